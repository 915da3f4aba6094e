package control

import (
	"sync"

	"go.uber.org/zap"

	"mangrove/internal/grpcserver"
	"mangrove/supervisor/internal/service"
)

// Health is the standard health service for an external monitor (SUP-6): ""
// for the whole, and one name per service. The whole serves only if every
// service does. Besides, "liveness" says that the supervisor itself turns, and
// "readiness" is the whole by another name.
type Health struct {
	*grpcserver.Server

	mu      sync.Mutex
	serving map[string]bool
}

// NewHealth makes the health server for the services named, all NOT_SERVING.
func NewHealth(log *zap.Logger, names ...string) *Health {
	h := &Health{Server: grpcserver.New(log), serving: map[string]bool{}}
	for _, n := range names {
		h.serving[n] = false
		h.Set(n, false)
	}
	h.Set(grpcserver.Liveness, true)
	return h
}

// Update tells the monitor how a service stands now.
func (h *Health) Update(s service.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.serving[s.Name]; !known {
		return
	}
	h.serving[s.Name] = s.State == service.Serving
	h.Set(s.Name, h.serving[s.Name])
	whole := true
	for _, serving := range h.serving {
		whole = whole && serving
	}
	h.Set(grpcserver.Readiness, whole)
}
