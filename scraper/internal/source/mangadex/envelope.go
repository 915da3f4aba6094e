package mangadex

import (
	"bytes"
	"encoding/json"
	"errors"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

// maxBody bounds an answer; depth is bounded by the decoder.
const maxBody = 8 << 20

// envelope is what every answer of the API comes in.
type envelope struct {
	Result   string          `json:"result"`
	Response string          `json:"response"`
	Data     json.RawMessage `json:"data"`
	Total    *int            `json:"total"`
	Errors   []struct {
		Status int `json:"status"`
	} `json:"errors"`
}

// open takes an answer out of its envelope. An answer that is not marked as a
// good one of its kind lacks the landmark: nothing is concluded from it, least
// of all that a list is empty (POLL-10).
func open(resp *source.Response, kind string) (envelope, error) {
	var e envelope
	if len(resp.Body) > maxBody {
		return e, source.NoLandmark(resp.URL, "end within bounds")
	}
	err := json.Unmarshal(resp.Body, &e)
	if e.Result == "error" && len(e.Errors) > 0 {
		return e, refusal(resp.URL, e.Errors[0].Status)
	}
	if e.Result != "ok" || e.Response != kind {
		return e, source.NoLandmark(resp.URL, `"result": "ok" of a `+kind)
	}
	if err != nil {
		return e, unparsed(resp.URL, err)
	}
	return e, nil
}

// refusal classifies an error that came with a good HTTP status.
func refusal(subject string, status int) error {
	switch {
	case status == 404, status == 410:
		return source.NotFound(subject)
	case status == 401, status == 403, status == 429:
		return fault.Newf(fault.Access, "read", subject, "the Site refused: its answer says status %d", status).WithEvidence(fault.Answered)
	case status >= 500:
		return fault.Newf(fault.Network, "read", subject, "the Site's answer says status %d", status).WithEvidence(fault.Answered)
	}
	return source.NoLandmark(subject, `"result": "ok"`)
}

// decode reads a part of an answer into v, which must be of its kind: '{' or '['.
func decode(subject string, raw json.RawMessage, kind byte, v any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != kind {
		return source.Unparsed(subject, "its data is not what the API documents")
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return unparsed(subject, err)
	}
	return nil
}

// unparsed names the field that is not of its type, never what stood there.
func unparsed(subject string, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return source.Unparsed(subject, "its field %q is not of the type the API documents", wrong.Field)
	}
	return source.Unparsed(subject, "its JSON is not understood")
}

// localized is a text by language. Where there is none the API sends an empty list.
type localized map[string]string

// UnmarshalJSON reads an object, or an empty list as none.
func (l *localized) UnmarshalJSON(data []byte) error {
	*l = nil
	if string(bytes.Join(bytes.Fields(data), nil)) == "[]" {
		return nil
	}
	var m map[string]string
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	*l = m
	return nil
}

// relationship ties an entity to another; its attributes come only when asked for.
type relationship struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Attributes json.RawMessage `json:"attributes"`
}

// related are the attributes we ask for: a person's or a group's name, a cover's file.
type related struct {
	Name     string `json:"name"`
	FileName string `json:"fileName"`
}

// known returns the attributes that came with a relationship.
func (r relationship) known(subject string) (related, error) {
	var out related
	if raw := bytes.TrimSpace(r.Attributes); len(raw) > 0 && raw[0] == '{' {
		return out, decode(subject, raw, '{', &out)
	}
	return out, nil
}
