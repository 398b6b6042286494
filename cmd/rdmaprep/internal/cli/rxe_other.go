//go:build !linux

package cli

import "errors"

// rdmaKernel is not asked: softroce refuses before.
type rdmaKernel struct{}

var errNotLinux = errors.New("Soft-RoCE is part of Linux")

func (rdmaKernel) AddLink(string, string) error { return errNotLinux }
func (rdmaKernel) RemoveLink(string) error      { return errNotLinux }
func (rdmaKernel) Contexts(string) (int, error) { return 0, errNotLinux }
