package evidence

import (
	"strings"

	"rdmaprep/lessons"
	"rdmaprep/sim/script"
)

// Of turns an observation into a run to be shown.
func Of(o lessons.Observation, title string) Run {
	run := Run{
		Title: title, Profile: o.Profile, Live: o.Live, Seed: o.Seed, At: o.At,
		Events: o.Events, Err: o.Err, Device: o.Device, Wire: o.Wire, ModelWhy: o.ModelWhy,
	}
	for _, l := range o.Transcript {
		run.Transcript = append(run.Transcript, Line{Text: l.String(), Odd: odd(l.Text)})
	}
	run.Objects = order(o.Objects)
	for _, f := range o.Failed {
		run.Transcript = append(run.Transcript, Line{Text: "expected " + f.Line + ", got " + f.Got, Odd: true})
	}
	return run
}

// odd says whether a transcript line is one to look at: an error status, an
// errno, a state that a queue pair fell into.
func odd(text string) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '=' || r == ',' }) {
		if strings.HasSuffix(word, "_ERR") || word == "ERR" || word == "SQE" || len(word) > 4 && word[0] == 'E' && word == strings.ToUpper(word) && !strings.Contains(word, "_") {
			return true
		}
	}
	return false
}

// objectOf says of an object what matters on one line.
func objectOf(x script.Object) Object {
	out := Object{Name: x.Node + "." + x.Name}
	v := map[string]string{}
	for _, f := range x.Fields {
		v[f.Key] = f.Value
	}
	var parts []string
	add := func(keys ...string) {
		for _, k := range keys {
			if v[k] != "" {
				parts = append(parts, k+" "+v[k])
			}
		}
	}
	switch {
	case v["state"] != "" && v["sq"] != "":
		out.State = v["state"]
		add("sq", "rq", "srq")
	case v["rkey"] != "" && v["addr"] != "":
		parts = append(parts, v["addr"]+"+"+v["length"])
		add("rkey")
		parts = append(parts, v["access"])
	default:
		for _, f := range x.Fields {
			if f.Key != "gone" {
				add(f.Key)
			}
		}
	}
	if v["gone"] != "" {
		parts = append([]string{v["gone"]}, parts...)
	}
	out.Text = strings.Join(parts, "  ")
	return out
}

// order puts queue pairs first and leaves out what has nothing to say.
func order(objects []script.Object) []Object {
	var qps, rest []Object
	for _, x := range objects {
		o := objectOf(x)
		switch {
		case o.State != "":
			qps = append(qps, o)
		case o.Text != "":
			rest = append(rest, o)
		}
	}
	return append(qps, rest...)
}
