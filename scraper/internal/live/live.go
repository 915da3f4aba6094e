// Package live tells whoever watches that something moved right now: a page
// arrived, a Job changed, the library grew. It holds nothing that must survive a
// restart and decides nothing; the truth is in the store and on disk.
package live

import (
	"sync"

	"mangrove/scraper/internal/source"
)

// Progress is how far the chapter under way has come.
type Progress struct {
	ChapterID   string
	Done, Total int
}

// Hub passes news on. Its methods never block on a slow watcher: a watcher that
// has not looked yet is told once, whatever came meanwhile.
type Hub struct {
	mu       sync.Mutex
	progress map[source.Key]Progress
	series   map[source.Key]map[chan struct{}]bool
	library  map[chan struct{}]bool
	queue    map[chan struct{}]bool
}

// NewHub makes a Hub.
func NewHub() *Hub {
	return &Hub{
		progress: map[source.Key]Progress{},
		series:   map[source.Key]map[chan struct{}]bool{},
		library:  map[chan struct{}]bool{},
		queue:    map[chan struct{}]bool{},
	}
}

// Changed says that something about a Series changed.
func (h *Hub) Changed(key source.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	tell(h.series[key])
	tell(h.queue)
}

// SetProgress says how far the chapter under way has come; a zero Progress ends it.
func (h *Hub) SetProgress(key source.Key, p Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p == (Progress{}) {
		delete(h.progress, key)
	} else {
		h.progress[key] = p
	}
	tell(h.series[key])
	tell(h.queue)
}

// Progress returns how far the chapter under way has come.
func (h *Hub) Progress(key source.Key) (Progress, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.progress[key]
	return p, ok
}

// QueueChanged says that something about the queue as a whole changed: a Hold, a
// circuit, a pace.
func (h *Hub) QueueChanged() {
	h.mu.Lock()
	defer h.mu.Unlock()
	tell(h.queue)
}

// LibraryChanged says that the library has a new revision.
func (h *Hub) LibraryChanged() {
	h.mu.Lock()
	defer h.mu.Unlock()
	tell(h.library)
}

// WatchSeries returns a channel that receives after changes of one Series, and
// the function that ends the watch.
func (h *Hub) WatchSeries(key source.Key) (<-chan struct{}, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := make(chan struct{}, 1)
	if h.series[key] == nil {
		h.series[key] = map[chan struct{}]bool{}
	}
	h.series[key][ch] = true
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.series[key], ch)
		if len(h.series[key]) == 0 {
			delete(h.series, key)
		}
	}
}

// WatchLibrary is WatchSeries for the library.
func (h *Hub) WatchLibrary() (<-chan struct{}, func()) { return h.watchAll(h.library) }

// WatchQueue is WatchSeries for every Series at once and for the queue itself.
func (h *Hub) WatchQueue() (<-chan struct{}, func()) { return h.watchAll(h.queue) }

func (h *Hub) watchAll(watchers map[chan struct{}]bool) (<-chan struct{}, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := make(chan struct{}, 1)
	watchers[ch] = true
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(watchers, ch)
	}
}

func tell(watchers map[chan struct{}]bool) {
	for ch := range watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
