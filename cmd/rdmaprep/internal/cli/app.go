package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"rdmaprep/cmd/rdmaprep/internal/plain"
	"rdmaprep/cmd/rdmaprep/internal/store"
	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/content"
	"rdmaprep/sim/model"
	"rdmaprep/sim/verbs"
)

// app is one run of the program: its flags, and what it opened on demand.
type app struct {
	host    Host
	started bool
	dataDir string
	packs   []string
	device  string           // --device of labs and quizzes; "" is the model
	onto    wireFlags        // --wire of labs and quizzes
	loaded  *content.Library // nil before loadContent
	store   *store.Store
	local   localOpener // nil is the program's own
}

// close gives back what was opened.
func (a *app) close() error {
	if a.store == nil {
		return nil
	}
	err := a.store.Close()
	a.store = nil
	return err
}

// env is the value of an environment variable, "" if it is not set.
func (a *app) env(name string) string {
	for _, kv := range slices.Backward(a.host.Env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// home is the folder of the learner's data.
func (a *app) home() string {
	if a.dataDir != "" {
		return a.dataDir
	}
	if h := a.env("RDMAPREP_HOME"); h != "" {
		return h
	}
	return filepath.Join(xdg.DataHome, "rdmaprep")
}

// loadContent is the shipped content with the learner's packs, loaded at the
// first call. The shipped content was checked when the program was built; of a
// pack, the error names the first problem and where it is.
func (a *app) loadContent() (*content.Library, error) {
	if a.loaded != nil {
		return a.loaded, nil
	}
	lib, err := content.Shipped()
	if err != nil {
		return nil, err
	}
	for _, dir := range a.packs {
		fsys, err := packFS(dir)
		if err != nil {
			return nil, err
		}
		pack, problems := content.LoadPack(lib, fsys)
		if err := firstProblem(dir, problems); err != nil {
			return nil, fmt.Errorf("%w; rdmaprep content check %s lists everything", err, dir)
		}
		lib = content.Merge(lib, pack)
	}
	a.loaded = lib
	return lib, nil
}

func packFS(dir string) (fs.FS, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the pack: %w", err)
	}
	if !info.IsDir() {
		return nil, usagef("the pack %s is a file: name the folder that holds topics.toml, questions/ and so on", dir)
	}
	return os.DirFS(dir), nil
}

func firstProblem(what string, problems []content.Problem) error {
	for _, p := range problems {
		if !p.Warning {
			return fmt.Errorf("%s: %s", what, p)
		}
	}
	return nil
}

// open is the factory of Benches that everything below is given.
func (a *app) open(ctx context.Context, profile string, seed uint64) (verbs.Bench, error) {
	b, err := model.Open(ctx, model.Options{Profile: profile, Seed: seed, Trace: true})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// checkProfile refuses a profile that the model does not have; "" is fine.
func checkProfile(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	b, err := model.Open(ctx, model.Options{Profile: name})
	if err != nil {
		return usageError{err}
	}
	return b.Close()
}

// service opens the store and joins it with the content and the device.
func (a *app) service(ctx context.Context) (*study.Service, error) {
	lib, err := a.loadContentAndStore(ctx)
	if err != nil {
		return nil, err
	}
	entropy := bufio.NewReaderSize(a.host.Entropy, 512)
	svc := study.New(lib, a.open, a.store, a.host.Now, entropy)
	svc.Offer(a.devices())
	if a.onto.asked() {
		if err := a.checkJoin(a.device, &a.onto); err != nil {
			return svc, err
		}
		return svc, svc.Choose(ctx, study.Choice{Live: joinedName(a.device, a.onto.wire)})
	}
	if a.device != "" {
		return svc, svc.Choose(ctx, study.Choice{Live: a.device})
	}
	return svc, nil
}

// loadContentAndStore loads the content while the store is opened, which waits
// for the disk; with packs of the learner's own one after the other, so that a
// wrong pack makes no store.
func (a *app) loadContentAndStore(ctx context.Context) (lib *content.Library, err error) {
	if len(a.packs) > 0 || a.loaded != nil {
		if lib, err = a.loadContent(); err != nil {
			return nil, err
		}
		a.store, err = store.Open(ctx, a.home(), store.Options{})
		return lib, err
	}
	loaded := make(chan error, 1)
	go func() {
		var err error
		lib, err = a.loadContent()
		loaded <- err
	}()
	a.store, err = store.Open(ctx, a.home(), store.Options{})
	err = errors.Join(<-loaded, err)
	return lib, err
}

// streams are what line mode reads and writes.
func (a *app) streams() plain.Streams {
	return plain.Streams{In: a.host.In, Out: a.host.Out, Echo: !isTerminal(a.host.In)}
}

// json prints a value as indented JSON.
func (a *app) json(v any) error {
	e := json.NewEncoder(a.host.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func (a *app) printf(format string, args ...any) {
	fmt.Fprintf(a.host.Out, format, args...)
}
