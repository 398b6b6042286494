//go:build linux && !noibv

package ibv

const mutexSize = 40 // of pthread_mutex_t
