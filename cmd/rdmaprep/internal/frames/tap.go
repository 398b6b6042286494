package frames

import "fmt"

// TapError is a TAP interface that cannot be taken.
type TapError struct {
	Name string
	Why  string
	Fix  []string // commands, in their order
	Err  error    // nil if the system was not asked
}

func (e *TapError) Error() string {
	s := e.Name + ": " + e.Why
	if e.Err != nil {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	for _, command := range e.Fix {
		s += "\n    $ " + command
	}
	return s
}

func (e *TapError) Unwrap() error { return e.Err }

// Commands are those that make a TAP interface for this user, with an address.
func Commands(name, prefix string) []string {
	return []string{
		"sudo ip tuntap add " + name + " mode tap user $USER",
		"sudo ip addr add " + prefix + " dev " + name,
		"sudo ip link set " + name + " up",
	}
}

// ExamplePrefix is the address that the commands give an interface, with the
// length of its network.
const ExamplePrefix = "10.77.0.1/24"
