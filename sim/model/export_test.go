package model

import "fmt"

// Watch has the invariants of a queue pair looked at after each of its steps.
func (b *Bench) Watch(broken func(error)) {
	b.checker = func(q *qp) {
		if err := q.check(); err != nil {
			broken(fmt.Errorf("QP %d at %s: %w", q.num, b.now, err))
		}
	}
}
