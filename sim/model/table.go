package model

// table gives out handles from 1 on and never gives one out twice.
type table[T any] struct {
	rows  []*T
	count int
	looks uint64 // calls of get: look-ups of handles, keys and QP numbers
}

func (t *table[T]) add(v *T) uint32 {
	t.rows = append(t.rows, v)
	t.count++
	return uint32(len(t.rows))
}

// get returns nil for a handle that was never given out or is gone.
func (t *table[T]) get(handle uint32) *T {
	t.looks++
	if handle-1 >= uint32(len(t.rows)) {
		return nil
	}
	return t.rows[handle-1]
}

// known tells whether a handle was ever given out.
func (t *table[T]) known(handle uint32) bool { return handle-1 < uint32(len(t.rows)) }

// clear removes everything; what was given out stays given out.
func (t *table[T]) clear() {
	clear(t.rows)
	t.count = 0
}

func (t *table[T]) remove(handle uint32) {
	t.rows[handle-1] = nil
	t.count--
}
