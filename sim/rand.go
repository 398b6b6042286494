package sim

// Rand is a small generator of numbers, PCG-XSH-RR 64/32 of O'Neill's "PCG: A
// Family of Simple Fast Space-Efficient Statistically Good Algorithms for
// Random Number Generation" (2014). Equal seeds give equal numbers.
type Rand struct{ state, inc uint64 }

const pcgMultiplier = 6364136223846793005

// NewRand makes a generator; stream tells apart generators of one seed.
func NewRand(seed, stream uint64) *Rand {
	r := &Rand{inc: stream<<1 | 1}
	r.Uint32()
	r.state += seed
	r.Uint32()
	return r
}

// Uint32 returns the next number.
func (r *Rand) Uint32() uint32 {
	old := r.state
	r.state = old*pcgMultiplier + r.inc
	x := uint32(((old >> 18) ^ old) >> 27)
	rot := uint32(old >> 59)
	return x>>rot | x<<((-rot)&31)
}

// Below returns a number from 0 to n-1; n must not be 0.
func (r *Rand) Below(n uint32) uint32 {
	return uint32(uint64(r.Uint32()) * uint64(n) >> 32)
}
