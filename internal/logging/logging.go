// Package logging makes the one kind of log line Mangrove writes: JSON, with
// stable field names and secrets taken out (OBS-3, C26, C27). Programs write to
// standard error; the supervisor, which captures it, rotates the files. The
// package keeps no global logger.
package logging

import (
	"io"
	"net/url"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"gopkg.in/natefinch/lumberjack.v2"
)

// New returns a logger that writes JSON lines of at least level to w. Fields
// with a secret's name lose their value whatever it is.
func New(w io.Writer, service, level string) *zap.Logger {
	lvl, err := zapcore.ParseLevel(level)
	if err != nil {
		lvl = zapcore.InfoLevel
	}
	enc := zap.NewProductionEncoderConfig()
	enc.TimeKey = "time"
	enc.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	core := zapcore.NewCore(zapcore.NewJSONEncoder(enc), zapcore.Lock(zapcore.AddSync(w)), lvl)
	return zap.New(newCollapser(redactor{core})).With(zap.String("service", service))
}

// Rotated returns a writer to path that starts a new file at 10 MiB and keeps
// five old ones.
func Rotated(path string) io.WriteCloser {
	return &lumberjack.Logger{Filename: path, MaxSize: 10, MaxBackups: 5}
}

// secretNames are field names whose value never reaches a log.
var secretNames = []string{"authorization", "cookie", "password", "passwd", "secret", "token", "dsn", "database_url", "email", "claim_code"}

func isSecret(name string) bool {
	name = strings.ToLower(name)
	for _, s := range secretNames {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// redactor drops the values of secret fields.
type redactor struct{ zapcore.Core }

func (r redactor) With(fields []zapcore.Field) zapcore.Core {
	return redactor{r.Core.With(redact(fields))}
}

func (r redactor) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if r.Enabled(e.Level) {
		return ce.AddCore(e, r)
	}
	return ce
}

func (r redactor) Write(e zapcore.Entry, fields []zapcore.Field) error {
	return r.Core.Write(e, redact(fields))
}

func redact(fields []zapcore.Field) []zapcore.Field {
	out := fields
	for i, f := range fields {
		if !isSecret(f.Key) {
			continue
		}
		if &out[0] == &fields[0] {
			out = append([]zapcore.Field(nil), fields...)
		}
		out[i] = zap.String(f.Key, "(hidden)")
	}
	return out
}

// URL returns an address fit for a log, an incident or a page: without user
// information, query and fragment, which may hold signatures. The standard
// library's Redacted keeps the query, and url.Error prints it.
func URL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(unreadable address)"
	}
	u.User, u.RawQuery, u.Fragment, u.ForceQuery = nil, "", "", false
	return u.String()
}
