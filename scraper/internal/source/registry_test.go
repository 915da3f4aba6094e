package source

import (
	"sync"
	"testing"
)

// adapter is one of which only the Site counts.
type adapter struct {
	Adapter
	named string
}

func (a adapter) Site() Site { return Site{Key: a.named} }

func TestRegistry(t *testing.T) {
	var none *Registry
	if _, ok := none.Get("a"); ok || len(none.All()) != 0 {
		t.Error("a nil registry has adapters")
	}
	r := NewRegistry(adapter{named: "a"}, adapter{named: "b"})
	all := r.All()
	r.Remove("a")
	if _, ok := r.Get("a"); ok {
		t.Error("a removed adapter is still there")
	}
	if len(all) != 2 || len(r.All()) != 1 {
		t.Errorf("the map given out moved: %d, now %d", len(all), len(r.All()))
	}
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() { r.Put(adapter{named: "c"}); r.Get("c"); r.All(); r.Remove("c") })
	}
	g.Wait()
}
