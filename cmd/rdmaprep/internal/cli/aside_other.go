//go:build !linux

package cli

// aside runs the screen; only libibverbs writes past it, on Linux.
func (a *app) aside(screen func() error) error { return screen() }
