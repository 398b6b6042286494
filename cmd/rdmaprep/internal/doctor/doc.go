// Package doctor says what a machine can run, why not, and the command that
// mends it: kernel module, device nodes, library and provider, devices, ports,
// GIDs, locked memory, network namespace, and what is known of the kernel.
//
// It promises that Examine is a function of the Machine it is given, that every
// finding says what it means, that one in the way of a live lab names a command
// (or says that there is none), and that a report always ends in a lab that
// works: on a device, or on the model and why. It opens no device and changes
// nothing. It judges by what the system says of itself: that a device really
// moves data is for a lab to show.
package doctor
