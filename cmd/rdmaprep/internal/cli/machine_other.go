//go:build !linux

package cli

import "rdmaprep/cmd/rdmaprep/internal/doctor"

// fillMachine has nothing to add: doctor has nothing to look at.
func fillMachine(*doctor.Machine) {}
