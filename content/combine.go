package content

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// combinations lists picks of the draws: all of them if they are few, else
// maxCombinations spread evenly over them. Without variants it is one, empty.
func combinations(v *Variants) [][]int {
	if v == nil {
		return [][]int{nil}
	}
	total := 1
	for _, d := range v.Draw {
		total *= max(len(d.From), 1)
		total = min(total, 1<<40)
	}
	n := min(total, maxCombinations)
	out := make([][]int, n)
	for i := range out {
		rest := i
		if n > 1 {
			rest = i * (total - 1) / (n - 1) // the first and the last are always there
		}
		picks := make([]int, len(v.Draw))
		for k, d := range v.Draw {
			size := max(len(d.From), 1)
			picks[k], rest = rest%size, rest/size
		}
		out[i] = picks
	}
	return out
}

// say names the values of the picks.
func say(v *Variants, picks []int) string {
	parts := make([]string, len(v.Draw))
	for i, d := range v.Draw {
		if picks[i] < len(d.From) {
			parts[i] = fmt.Sprintf("%s = %v", d.Name, d.From[picks[i]])
		}
	}
	return strings.Join(parts, ", ")
}

func sayEnv(env map[string]any) string {
	names := keys(env)
	slices.Sort(names)
	for i, k := range names {
		names[i] = fmt.Sprintf("%s = %v", k, env[k])
	}
	return strings.Join(names, ", ")
}

// variantKey is the key that a VariantError is about.
func variantKey(err error) string {
	var v *VariantError
	if !errors.As(err, &v) {
		return "variants"
	}
	return v.Key
}

func cause(err error) error {
	var v *VariantError
	if errors.As(err, &v) {
		return v.Err
	}
	return err
}
