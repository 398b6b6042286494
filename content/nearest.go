package content

import (
	"reflect"
	"strings"
)

// didYouMean names the known word nearest to a wrong one, if one is near.
func didYouMean(got string, known []string) string {
	best, bestAt := 3, ""
	if len(got) < 5 {
		best = 2
	}
	for _, k := range known {
		if d := distance(got, k, best); d < best {
			best, bestAt = d, k
		}
	}
	if bestAt == "" {
		return ""
	}
	return ". Did you mean " + bestAt + "?"
}

// distance is the count of letters to change, add or take away, or limit if it
// is not below that.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above+1, row[j]+1, diagonal+cost)
			diagonal = above
		}
	}
	return min(row[len(b)], limit)
}

func abs(n int) int { return max(n, -n) }

// nearestKey suggests a key of the form for an unknown one at a path.
func nearestKey(form any, path string) string {
	path = withoutIndices(path)
	parts := strings.Split(path, ".")
	t := reflect.TypeOf(form)
	for _, p := range parts[:len(parts)-1] {
		if t = fieldType(t, p); t == nil {
			return ""
		}
	}
	return didYouMean(parts[len(parts)-1], keysOf(t))
}

func structOf(t reflect.Type) reflect.Type {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func fieldType(t reflect.Type, key string) reflect.Type {
	if t = structOf(t); t == nil {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.Tag.Get("toml") == key {
			return f.Type
		}
	}
	return nil
}

func keysOf(t reflect.Type) []string {
	if t = structOf(t); t == nil {
		return nil
	}
	var keys []string
	for _, f := range reflect.VisibleFields(t) {
		if k := f.Tag.Get("toml"); k != "" && k != "-" {
			keys = append(keys, k)
		}
	}
	return keys
}
