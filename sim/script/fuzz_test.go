package script

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// dump prints the parsed form with everything that pointers lead to, but the
// tables of the language and the text of values, which may be written in more
// than one way.
func dump(v any) string { return dumpValue(reflect.ValueOf(v)) }

func dumpValue(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		if v.Type() == reflect.TypeFor[*verbSpec]() {
			return v.Elem().FieldByName("name").String()
		}
		return "&" + dumpValue(v.Elem())
	case reflect.Interface:
		return dumpValue(v.Elem())
	case reflect.Struct:
		out := v.Type().Name() + "{"
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "text" || v.Type().Name() != "value" {
				out += name + ":" + dumpValue(v.Field(i)) + " "
			}
		}
		return out + "}"
	case reflect.Slice:
		out := "["
		for i := range v.Len() {
			out += dumpValue(v.Index(i)) + " "
		}
		return out + "]"
	}
	return fmt.Sprint(v)
}

// FuzzParse: no text makes the parser panic; an error names a place that is in
// the text; and a script that parses, printed, parses into an equal one.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("examples/*.rdma")
	if err != nil {
		f.Fatal(err)
	}
	more, err := filepath.Glob("testdata/run/*.rdma")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, more...) {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	page, err := os.ReadFile("GRAMMAR.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range codeLines(string(page)) {
		f.Add("script 1\npair rc\npair ud\n" + line)
	}
	f.Fuzz(func(t *testing.T, src string) {
		sc, err := Parse("f", []byte(src))
		if err == nil {
			roundTrip(t, sc)
			return
		}
		var list ParseErrors
		var one *ParseError
		switch {
		case errors.As(err, &list):
			if len(list) > maxErrors || len(list) < 2 {
				t.Errorf("%d errors", len(list))
			}
		case errors.As(err, &one):
			if one.Line < 1 || one.Col < 1 || one.Expected == "" {
				t.Errorf("a place that is none: %v", one)
			}
		default:
			t.Errorf("not a ParseError: %v", err)
		}
	})
}
