// Package softroce makes and removes Soft-RoCE devices, as rdma link add and
// rdma link delete do, and says in plain words why the kernel refuses.
//
// It promises that what can be known beforehand is said before the kernel is
// asked, that every error names the thing and the fix, and that no wait is
// without a bound. It does not load modules itself (the kernel does, when a
// device is made), and touches no device of another driver.
package softroce
