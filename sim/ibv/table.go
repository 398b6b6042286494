//go:build linux && (amd64 || arm64) && !noibv

package ibv

// table gives out handles from 1 on and never gives one out twice.
type table[T any] struct{ rows []*T }

func (t *table[T]) add(v *T) uint32 {
	t.rows = append(t.rows, v)
	return uint32(len(t.rows))
}

// get returns nil for a handle that was never given out or is gone.
func (t *table[T]) get(handle uint32) *T {
	if handle-1 >= uint32(len(t.rows)) {
		return nil
	}
	return t.rows[handle-1]
}

func (t *table[T]) remove(handle uint32) { t.rows[handle-1] = nil }

// find returns the handle of the first living row that is asked for, 0 if none.
func (t *table[T]) find(is func(*T) bool) uint32 {
	for i, v := range t.rows {
		if v != nil && is(v) {
			return uint32(i + 1)
		}
	}
	return 0
}
