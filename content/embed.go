package content

import (
	"embed"
	"io/fs"
)

//go:embed topics.toml sources.toml *.toml all:questions all:lessons all:labs
var shipped embed.FS

// Embedded is the pack that ships with the program.
func Embedded() fs.FS { return shipped }
