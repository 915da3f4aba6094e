package web

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"time"

	"mangrove/internal/fault"
	"mangrove/reader/internal/backup"
	"mangrove/reader/internal/moving"
	"mangrove/reader/internal/scraperclient"
)

// Moving brings a person's library in from elsewhere, and out again.
type Moving interface {
	Plan(ctx context.Context, userID int64, person, name string, file io.Reader) (int64, error)
	PlanFolders(ctx context.Context, userID int64) (int64, error)
	Imports(ctx context.Context, userID int64) ([]moving.Import, error)
	Import(ctx context.Context, userID, id int64) (moving.Import, error)
	ImportItems(ctx context.Context, id int64, word string, from, limit int) ([]moving.Item, error)
	Decide(ctx context.Context, userID, id int64, position, candidate int) error
	Leave(ctx context.Context, userID, id int64, position int, leave bool) error
	Forget(ctx context.Context, userID, id int64) error
	Adopt(ctx context.Context, userID, id int64) error
	Undo(ctx context.Context, userID, id int64) error
	Out(ctx context.Context, userID int64, name string) ([]backup.Person, error)
	AllOut(ctx context.Context) ([]backup.Person, error)
}

// uploadTime is how long a file may take to arrive.
const uploadTime = 10 * time.Minute

func (s *Server) moveInPage(w http.ResponseWriter, r *http.Request) error {
	return s.showMoveIn(w, r, http.StatusOK, "")
}

func (s *Server) showMoveIn(w http.ResponseWriter, r *http.Request, code int, problem string) error {
	imports, err := s.Moving.Imports(r.Context(), who(r).ID)
	if err != nil {
		return err
	}
	v := moveInView{Frame: s.frame(r, s.say(r.Context()).T("Move in and out"), "me"), Problem: problem, Runs: mayKeep(r), Said: s.say(r.Context()).moveInSaid(r.URL.Query().Get("said"))}
	v.Frame.Back = "/me"
	for _, i := range imports {
		v.Reports = append(v.Reports, s.say(r.Context()).reportOf(i, time.Now()))
	}
	s.render(w, r, code, "move-in", v)
	return nil
}

// moveIn takes a file and plans what would become of it. It goes to a temporary file
// first: one that comes slowly must not keep others from having theirs read.
func (s *Server) moveIn(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(uploadTime))
	part, err := uploaded(r)
	if err != nil {
		return err
	}
	if part == nil || part.FileName() == "" {
		return s.showMoveIn(w, r, http.StatusUnprocessableEntity, s.say(r.Context()).T("Choose a file first."))
	}
	file, err := os.CreateTemp("", "mangrove-move-in-")
	if err != nil {
		return fault.New(fault.Storage, "keep", "an upload", err)
	}
	defer func() { _ = file.Close(); _ = os.Remove(file.Name()) }()
	if _, err := io.Copy(file, part); err != nil {
		return tooLargeOr(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fault.New(fault.Storage, "read", "an upload", err)
	}
	id, err := s.Moving.Plan(r.Context(), who(r).ID, who(r).Name, part.FileName(), file)
	var wrong *backup.FileError
	var away *scraperclient.AwayError
	switch {
	case errors.As(err, &wrong):
		return s.showMoveIn(w, r, http.StatusUnprocessableEntity, wrong.Problem)
	case errors.As(err, &away):
		return s.showMoveIn(w, r, http.StatusServiceUnavailable, s.say(r.Context()).T("The scraper does not answer, and it alone knows which Sites are read here. Nothing was changed. Try again once it is back."))
	case err != nil:
		return err
	}
	return redirect(w, r, importAddress(id))
}

// moveFoldersIn plans what would become of the folders that other programs put into
// the library.
func (s *Server) moveFoldersIn(w http.ResponseWriter, r *http.Request) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	id, err := s.Moving.PlanFolders(r.Context(), who(r).ID)
	switch {
	case fault.Is(err, fault.NotFound):
		return redirect(w, r, "/move-in?said=no-folders")
	case err != nil:
		return err
	}
	return redirect(w, r, importAddress(id))
}

// uploaded is the form's file, nil for none.
func uploaded(r *http.Request) (*multipart.Part, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		// A form without a file is no such form.
		return nil, nil //nolint:nilnil // the caller says that a file is missing
	}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil //nolint:nilnil // see above
		case err != nil:
			return nil, tooLargeOr(err)
		case part.FormName() == "file":
			return part, nil
		}
	}
}

func tooLargeOr(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	return fault.New(fault.Invalid, "read", "an upload", err)
}

func (s *Server) importPage(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("import"))
	if err != nil {
		return err
	}
	i, err := s.Moving.Import(r.Context(), who(r).ID, id)
	if err != nil {
		return err
	}
	v, err := s.importView(r, i)
	if err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, "import", v)
	return nil
}

// changeItem leaves one Series out, takes it in again, or says which title it is.
func (s *Server) changeItem(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("import"))
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	position, err := strconv.Atoi(r.PathValue("item"))
	if err != nil {
		return notFound("a Series of an import")
	}
	switch act := r.PostFormValue("act"); act {
	case "leave", "take":
		err = s.Moving.Leave(r.Context(), who(r).ID, id, position, act == "leave")
	case "choose":
		candidate, bad := strconv.Atoi(r.PostFormValue("candidate"))
		if bad != nil {
			return invalid("a choice")
		}
		err = s.Moving.Decide(r.Context(), who(r).ID, id, position, candidate)
	default:
		return invalid("what to do")
	}
	return s.afterImport(w, r, id, r.PostFormValue("back"), err)
}

func (s *Server) adoptImport(w http.ResponseWriter, r *http.Request) error {
	return s.actOnImport(w, r, s.Moving.Adopt, "adopted")
}

func (s *Server) undoImport(w http.ResponseWriter, r *http.Request) error {
	return s.actOnImport(w, r, s.Moving.Undo, "undone")
}

func (s *Server) actOnImport(w http.ResponseWriter, r *http.Request, act func(ctx context.Context, userID, id int64) error, said string) error {
	if err := s.costlyCall(r); err != nil {
		return err
	}
	id, err := number(r.PathValue("import"))
	if err != nil {
		return err
	}
	// Folders are everybody's: whoever planned it may not run Mangrove any more.
	if i, err := s.Moving.Import(r.Context(), who(r).ID, id); err != nil {
		return err
	} else if i.Kind == moving.Folders && !mayKeep(r) {
		return notFound("an import")
	}
	// Somebody who leaves the page in the meantime wants it all the same.
	err = act(context.WithoutCancel(r.Context()), who(r).ID, id)
	return s.afterImport(w, r, id, importAddress(id)+"?said="+said, err)
}

func (s *Server) forgetImport(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r.PathValue("import"))
	if err != nil {
		return err
	}
	return s.afterImport(w, r, id, "/move-in?said=forgotten", s.Moving.Forget(r.Context(), who(r).ID, id))
}

// afterImport leads on; an import that was changed elsewhere meanwhile shows itself as
// it is now.
func (s *Server) afterImport(w http.ResponseWriter, r *http.Request, id int64, to string, err error) error {
	switch {
	case fault.Is(err, fault.Conflict):
		return redirect(w, r, importAddress(id)+"?said=busy")
	case fault.Is(err, fault.Stale):
		return redirect(w, r, importAddress(id)+"?said=stale")
	case err != nil:
		return err
	case to == "":
		to = importAddress(id)
	}
	return redirect(w, r, to)
}

func importAddress(id int64) string { return "/move-in/" + strconv.FormatInt(id, 10) }
