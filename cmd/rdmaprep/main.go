// Command rdmaprep prepares engineers for RDMA interviews in the terminal.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"rdmaprep/cmd/rdmaprep/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.System(), os.Args[1:])
	stop()
	os.Exit(code)
}
