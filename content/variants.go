package content

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/expr-lang/expr"
)

// Limits of variants.
const (
	MaxDraws       = 8
	MaxDrawValues  = 64
	MaxLets        = 16
	MaxExprBytes   = 256
	maxExprNodes   = 64
	maxRenderBytes = 1 << 16 // of one rendered text
)

// VariantError says which formula or text of which question cannot be worked
// out, and why.
type VariantError struct {
	Question string
	Key      string // such as "variants.let[total]" or "choices[1].text"
	Err      error
}

func (e *VariantError) Error() string {
	return fmt.Sprintf("question %s: %s: %v", e.Question, e.Key, e.Err)
}

func (e *VariantError) Unwrap() error { return e.Err }

// Render draws the numbers of a question with variants from a seed, works out
// its formulas and fills its texts in. It returns the question filled in, and
// the numbers by name. Equal seeds draw equal numbers. A question without
// variants is returned as it is. The error is a *VariantError.
func (q *Question) Render(seed uint64) (*Question, map[string]any, error) {
	if q.Variants == nil {
		return q, nil, nil
	}
	picks := make([]int, len(q.Variants.Draw))
	for i, d := range q.Variants.Draw {
		picks[i] = int(splitMix(seed+uint64(i)*0x632be59bd9b4e019) % uint64(max(len(d.From), 1)))
	}
	return q.renderPicks(picks)
}

// splitMix is the finaliser of the SplitMix64 generator (Steele, Lea and Flood
// 2014): one step from a seed to 64 well mixed bits.
func splitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// renderPicks renders the question with the given value of each draw.
func (q *Question) renderPicks(picks []int) (*Question, map[string]any, error) {
	v := q.Variants
	if len(v.Draw) > MaxDraws || len(v.Let) > MaxLets {
		return nil, nil, &VariantError{q.ID, "variants", fmt.Errorf("more than %d draws or %d formulas", MaxDraws, MaxLets)}
	}
	env := map[string]any{}
	for i, d := range v.Draw {
		if picks[i] >= len(d.From) {
			return nil, nil, &VariantError{q.ID, "variants.draw[" + d.Name + "]", fmt.Errorf("from is empty")}
		}
		env[d.Name] = plain(d.From[picks[i]])
	}
	for _, let := range v.Let {
		val, err := evaluate(let.Expr, env)
		if err != nil {
			return nil, nil, &VariantError{q.ID, "variants.let[" + let.Name + "]", err}
		}
		env[let.Name] = val
	}
	r := renderer{q: q, env: env}
	out := r.question()
	if r.err != nil {
		return nil, nil, r.err
	}
	return out, env, nil
}

// evaluate runs one formula. Only arithmetic, comparison, ?: and a few
// functions of numbers are there: nothing that loops.
func evaluate(text string, env map[string]any) (any, error) {
	if len(text) > MaxExprBytes {
		return nil, fmt.Errorf("%d bytes long; the limit is %d", len(text), MaxExprBytes)
	}
	if strings.Contains(text, "..") {
		return nil, fmt.Errorf("ranges are not allowed in a formula")
	}
	opts := []expr.Option{expr.Env(env), expr.DisableAllBuiltins(), expr.MaxNodes(maxExprNodes)}
	for _, name := range []string{"abs", "ceil", "floor", "round", "min", "max", "int", "float", "bitand", "bitor", "bitshl", "bitshr"} {
		opts = append(opts, expr.EnableBuiltin(name))
	}
	prog, err := expr.Compile(text, opts...)
	if err != nil {
		return nil, fmt.Errorf("%s", firstLine(err))
	}
	val, err := expr.Run(prog, env)
	if err != nil {
		return nil, fmt.Errorf("%s", firstLine(err))
	}
	switch x := plain(val).(type) {
	case int, string, bool:
		return x, nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("gives %v", x)
		}
		return x, nil
	default:
		return nil, fmt.Errorf("gives a %T; a formula gives a number, a word or a truth value", val)
	}
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

// plain turns numbers into int where they are whole, else float64 without the
// last digits, in which binary rounding shows.
func plain(v any) any {
	switch x := v.(type) {
	case int64:
		return int(x)
	case uint64:
		return plain(float64(x))
	case float64:
		if short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64); err == nil {
			x = short
		}
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return int(x)
		}
		return x
	default:
		return v
	}
}

// renderer fills templates and keeps the first error.
type renderer struct {
	q   *Question
	env map[string]any
	err error
}

func (r *renderer) fill(key, text string) string {
	if r.err != nil || !strings.Contains(text, "{{") {
		return text
	}
	t, err := parseTemplate(text)
	if err == nil {
		var b strings.Builder
		shown := make(map[string]any, len(r.env))
		for k, v := range r.env {
			if f, ok := v.(float64); ok {
				v = strconv.FormatFloat(f, 'f', -1, 64)
			}
			shown[k] = v
		}
		if err = t.Execute(&b, shown); err == nil && b.Len() > maxRenderBytes {
			err = fmt.Errorf("the text grows beyond %d bytes", maxRenderBytes)
		}
		if err == nil {
			return b.String()
		}
	}
	r.err = &VariantError{r.q.ID, key, err}
	return text
}

// parseTemplate takes text/template syntax with {{.name}} alone, so that
// filling it in cannot loop.
func parseTemplate(text string) (*template.Template, error) {
	if len(text) > maxRenderBytes {
		return nil, fmt.Errorf("the text has more than %d bytes", maxRenderBytes)
	}
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}
	if t.Tree == nil || t.Root == nil {
		return t, nil
	}
	for _, n := range t.Root.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
		case *parse.ActionNode:
			if !isName(n.Pipe) {
				return nil, fmt.Errorf("%s: only {{.name}} of a draw or formula may stand here", n)
			}
		default:
			return nil, fmt.Errorf("%s: only {{.name}} of a draw or formula may stand here", n)
		}
	}
	return t, nil
}

func isName(p *parse.PipeNode) bool {
	if len(p.Decl) > 0 || len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return false
	}
	f, ok := p.Cmds[0].Args[0].(*parse.FieldNode)
	return ok && len(f.Ident) == 1
}

// question is a deep copy with every text filled in.
func (r *renderer) question() *Question {
	c := *r.q
	c.Prompt = r.fill("prompt", c.Prompt)
	c.Explain = r.fill("explain", c.Explain)
	c.Scope = r.fill("scope", c.Scope)
	c.NotRun = r.fill("not_run", c.NotRun)
	c.Answer = r.fill("answer", c.Answer)
	c.Model = r.fill("model", c.Model)
	c.Hints = r.list("hints", c.Hints)
	c.Accept = r.list("accept", c.Accept)
	c.Options = r.list("options", c.Options)
	c.FollowUps = r.list("follow_ups", c.FollowUps)
	c.Choices = slices.Clone(c.Choices)
	for i := range c.Choices {
		o, key := &c.Choices[i], fmt.Sprintf("choices[%d].", i)
		o.Text, o.Why = r.fill(key+"text", o.Text), r.fill(key+"why", o.Why)
		o.Holds = r.list(key+"holds", o.Holds)
	}
	c.Steps = slices.Clone(c.Steps)
	for i := range c.Steps {
		st, key := &c.Steps[i], fmt.Sprintf("steps[%d].", i)
		st.Text, st.Do = r.fill(key+"text", st.Text), r.fill(key+"do", st.Do)
	}
	c.Rubric = slices.Clone(c.Rubric)
	for i := range c.Rubric {
		c.Rubric[i].Text = r.fill(fmt.Sprintf("rubric[%d].text", i), c.Rubric[i].Text)
	}
	if c.Proof != nil {
		p := *c.Proof
		p.Script, p.Asks = r.fill("proof.script", p.Script), r.fill("proof.asks", p.Asks)
		c.Proof = &p
	}
	return &c
}

func (r *renderer) list(key string, in []string) []string {
	out := slices.Clone(in)
	for i := range out {
		out[i] = r.fill(fmt.Sprintf("%s[%d]", key, i), out[i])
	}
	return out
}

// Drawings are the question filled in with the combinations of its draws that
// its proof is run for: all of them if they are few, else an even choice. The
// error is a *VariantError.
func (q *Question) Drawings() ([]*Question, error) {
	var list []*Question
	for _, picks := range combinations(q.Variants) {
		one := q
		if q.Variants != nil {
			var err error
			if one, _, err = q.renderPicks(picks); err != nil {
				return nil, err
			}
		}
		list = append(list, one)
	}
	return list, nil
}
