package model

import (
	"slices"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// traceLog keeps trace events. They are written into chunks, which stay where
// they are however long the trace grows, and are put into one slice when
// somebody asks for it. Frames and completions are cut from arrays of their
// own: a trace is kept or dropped as a whole.
type traceLog struct {
	count  int
	whole  []verbs.TraceEvent   // the events up to the last call of all
	chunks [][]verbs.TraceEvent // those since; the last chunk is being filled
	frames []byte
	wcs    []verbs.WC
}

const (
	minChunk   = 64 // events: most traces are short
	maxChunk   = 1024
	frameBytes = 16 << 10
	traceWCs   = 128
)

// add makes room for one event and returns it.
func (l *traceLog) add() *verbs.TraceEvent {
	last := len(l.chunks) - 1
	if last < 0 || len(l.chunks[last]) == cap(l.chunks[last]) {
		l.chunks = append(l.chunks, make([]verbs.TraceEvent, 0, max(minChunk, min(l.count, maxChunk))))
		last++
	}
	c := &l.chunks[last]
	*c = (*c)[:len(*c)+1]
	l.count++
	return &(*c)[len(*c)-1]
}

// all returns every event in one slice.
func (l *traceLog) all() []verbs.TraceEvent {
	l.whole = slices.Grow(l.whole, l.count-len(l.whole))
	for _, c := range l.chunks {
		l.whole = append(l.whole, c...)
	}
	l.chunks = nil
	return l.whole
}

// frame encodes w.
func (l *traceLog) frame(w *wire.Packet) []byte {
	if n := w.FrameLen(); cap(l.frames)-len(l.frames) < n {
		l.frames = make([]byte, 0, max(n, frameBytes))
	}
	at := len(l.frames)
	l.frames = wire.AppendFrame(l.frames, w)
	return slices.Clip(l.frames[at:])
}

// wc keeps a copy of a completion.
func (l *traceLog) wc(wc verbs.WC) *verbs.WC {
	if len(l.wcs) == cap(l.wcs) {
		l.wcs = make([]verbs.WC, 0, traceWCs)
	}
	l.wcs = append(l.wcs, wc)
	return &l.wcs[len(l.wcs)-1]
}
