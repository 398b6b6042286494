package model

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestProfilesAreTold: every switch of Profile has a source and a lesson, and
// every told switch exists.
func TestProfilesAreTold(t *testing.T) {
	told := map[string]bool{}
	for _, s := range switches {
		told[s.Name] = true
		if s.Source == "" || s.Learn == "" {
			t.Errorf("%s has no source or nothing to learn", s.Name)
		}
	}
	typ := reflect.TypeFor[Profile]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		if name != "Name" && !told[name] {
			t.Errorf("the switch %s is not told", name)
		}
		delete(told, name)
	}
	for name := range told {
		t.Errorf("%s is told and does not exist", name)
	}
	if p := specProfile(); len(switchesOf(p)) != 0 {
		t.Error("spec deviates from itself")
	}
}

// TestChoicesAreShown: every choice of spec has a source, and the transcript
// that it names is there.
func TestChoicesAreShown(t *testing.T) {
	for _, c := range choices {
		if c.Rule == "" || c.Does == "" || c.Source == "" {
			t.Errorf("%+v is not told in full", c)
		}
		file, line, _ := strings.Cut(c.Shown, ": ")
		text, err := os.ReadFile("testdata/" + file)
		if err != nil || line == "" || !strings.Contains(string(text), line) {
			t.Errorf("%s: %q is not in %s: %v", c.Rule, line, file, err)
		}
	}
}

// TestUnknownProfile names what there is.
func TestUnknownProfile(t *testing.T) {
	_, err := Open(context.Background(), Options{Profile: "mlx5"})
	if err == nil || !strings.Contains(err.Error(), "spec") || !strings.Contains(err.Error(), "rxe-6.1") {
		t.Errorf("an unknown profile gives %v", err)
	}
}
