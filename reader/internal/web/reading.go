package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/reading"
)

// readingData is how a title is shown, as the script hears it.
type readingData struct {
	reading.Settings
	// Changed is when they were saved, in microseconds; 0 for what nobody chose.
	Changed int64 `json:"changed"`
}

func readingOf(s reading.Settings) readingData {
	d := readingData{Settings: s}
	if !s.ChangedAt.IsZero() {
		d.Changed = s.ChangedAt.UnixMicro()
	}
	return d
}

// readingSettings answers how a person wants a title shown: their choice for it,
// else their choice for every title, else what the Site says of it.
func (s *Server) readingSettings(ctx context.Context, userID int64, title catalog.Title) (reading.Settings, error) {
	set, every, ok, err := s.Shelves.ReadingSettings(ctx, userID, title.ID)
	switch {
	case err != nil:
		return set, err
	case !ok:
		return reading.Default(title.Direction), nil
	case every:
		return set.Under(title.Direction), nil
	}
	return set, nil
}

// saveReading keeps how a person wants a title shown; without a title, every one.
// The script alone sends it: without script there is nothing to set.
func (s *Server) saveReading(w http.ResponseWriter, r *http.Request) error {
	title := int64(reading.EveryTitle)
	if text := r.PathValue("title"); text != "" {
		var err error
		if title, err = number(text); err != nil {
			return err
		}
	}
	var set reading.Settings
	dec := json.NewDecoder(io.LimitReader(r.Body, 4096))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&set); err != nil {
		return invalid("reading settings")
	}
	set, err := s.Shelves.SaveReadingSettings(r.Context(), who(r).ID, title, set)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(readingOf(set))
}
