package model

// ring is a bounded queue whose slots are made when they are first needed and
// reused afterwards. Indices count for ever: index i lives from the push that
// made it until it is dropped from the front.
type ring[T any] struct {
	slots      []T // a power of two of them
	head, tail uint64
	limit      int
}

func (r *ring[T]) len() int       { return int(r.tail - r.head) }
func (r *ring[T]) full() bool     { return r.len() >= r.limit }
func (r *ring[T]) at(i uint64) *T { return &r.slots[i&uint64(len(r.slots)-1)] }
func (r *ring[T]) front() *T      { return r.at(r.head) }
func (r *ring[T]) drop()          { r.head++ }
func (r *ring[T]) reset()         { r.head, r.tail = 0, 0 }

// push makes a slot at the back and returns it with whatever it held before,
// so that its inner slices can be reused. The caller checks full first.
func (r *ring[T]) push() *T {
	if r.len() == len(r.slots) {
		bigger := make([]T, max(1, 2*len(r.slots)))
		for i := r.head; i != r.tail; i++ {
			bigger[i&uint64(len(bigger)-1)] = *r.at(i)
		}
		r.slots = bigger
	}
	r.tail++
	return r.at(r.tail - 1)
}
