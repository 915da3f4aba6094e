package source

import (
	"maps"
	"sync"
)

// Registry is the adapters the scraper has now, by Site. Described Sites come
// and go while it runs, so whoever needs one asks here each time. The zero value
// is empty and ready; a nil one has none.
type Registry struct {
	mu     sync.RWMutex
	bySite map[string]Adapter
}

// NewRegistry holds adapters.
func NewRegistry(adapters ...Adapter) *Registry {
	r := &Registry{}
	for _, a := range adapters {
		r.Put(a)
	}
	return r
}

// Put adds an adapter, or replaces that of its Site.
func (r *Registry) Put(a Adapter) {
	key := a.Site().Key
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bySite == nil {
		r.bySite = map[string]Adapter{}
	}
	r.bySite[key] = a
}

// Remove forgets the adapter of a Site.
func (r *Registry) Remove(site string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.bySite, site)
}

// Get returns the adapter of a Site.
func (r *Registry) Get(site string) (Adapter, bool) {
	if r == nil {
		return nil, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	a, ok := r.bySite[site]
	return a, ok
}

// All returns the adapters by Site, as they are now; the map is the caller's.
func (r *Registry) All() map[string]Adapter {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return maps.Clone(r.bySite)
}
