package difftest_test

// known is a case in which rxe of Linux 6.1 is known to differ from the model's
// profile rxe-6.1, because of what the model is not: one device with both nodes
// on it, with other programs' objects before ours, and an ordinary kernel that
// must not be hurt.
type known struct {
	name string // of the case
	why  string
	// live is the first line that differs, as the device gives it; "" where it
	// is not always the same.
	live string
	// hurts: the device refuses a line that is known to damage its kernel, so
	// only the model carries it out.
	hurts bool
}

var knowns = []known{}
