//go:build linux && !noibv

package ibv

const mutexSize = 48 // of pthread_mutex_t
