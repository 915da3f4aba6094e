package job

import (
	"context"

	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/staging"
)

// DefaultFloor is how many bytes stay free beside a chapter about to be fetched,
// where no other number is set: room for the database and for some chapters.
const DefaultFloor int64 = 1 << 30

// usualPage is what a page is taken to weigh before one has been seen, in bytes.
const usualPage = 1 << 20

// room returns nil when the library has room for the pages that the stage misses,
// for the archive made of them beside the stage, and for the floor; without a
// stage, for the floor alone. It is asked before the first request of a chapter
// and again before its first page: a full disk should cost the Site nothing.
func (r *Runner) room(ctx context.Context, stage *staging.Stage) error {
	floor := DefaultFloor
	if r.Floor != nil {
		var err error
		if floor, err = r.Floor(ctx); err != nil {
			return err
		}
	}
	need := int64(0)
	if stage != nil {
		page := int64(usualPage)
		if n := stage.Done(); n > 0 {
			page = stage.Size() / int64(n)
		}
		need = 2*page*int64(len(stage.Missing())) + stage.Size()
	}
	free, err := durable.Room(r.Library)
	if err != nil {
		return err
	}
	if free-need < floor {
		return fault.Newf(fault.Storage, "make room in", r.Library, "%d MB are free; a chapter of about %d MB would leave less than the floor of %d MB",
			free>>20, need>>20, floor>>20)
	}
	return nil
}
