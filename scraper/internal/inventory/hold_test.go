package inventory

import "sync"

// Hold keeps everybody from a Library until release is called, once or more.
func Hold(l *Library) (release func()) {
	l.mu.Lock()
	return sync.OnceFunc(l.mu.Unlock)
}
