package declared

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/feed"
	"mangrove/scraper/internal/source/opds"
)

// The kinds of descriptions; a file that names none describes pages.
const (
	kindDeclared = "declared"
	kindFeed     = "feed"
	kindOPDS     = "opds"
)

// kind is the kind a file names; "" with a problem for any other.
func (d *decoder) kind(body ast.Node) string {
	kind := kindDeclared
	m, ok := body.(ast.MapNode)
	if !ok {
		return kind // what it is instead is told where it is read
	}
	for it := m.MapRange(); it.Next(); {
		if t := it.Key().GetToken(); t == nil || t.Value != "kind" {
			continue
		}
		var said text
		d.scalar(it.Value(), &said, "kind")
		if kind = said.s; said.given() && !slices.Contains([]string{kindDeclared, kindFeed, kindOPDS}, kind) {
			d.problem(said.at, "kind is declared, feed or opds, not %q", clip(kind, 40))
			return ""
		}
	}
	return kind
}

// siteText is what a feed and a catalog are described by alike, as it is written.
// docs/sites.md explains each key; a test holds that page to these lists.
type siteText struct {
	Kind      text   `yaml:"kind"`
	Key       text   `yaml:"key"`
	Name      text   `yaml:"name"`
	Address   text   `yaml:"address"`
	Hosts     []text `yaml:"hosts"`
	Language  text   `yaml:"language"`
	Pacing    text   `yaml:"pacing"`
	Interval  text   `yaml:"interval"`
	Direction text   `yaml:"direction"`
}

// feedText is a file of kind feed.
type feedText struct {
	At place
	siteText
	Images      text   `yaml:"images"`
	Authors     []text `yaml:"authors"`
	Description text   `yaml:"description"`
	License     text   `yaml:"license"`
}

// opdsText is a file of kind opds.
type opdsText struct {
	At place
	siteText
	Width        text `yaml:"width"`
	User         text `yaml:"user"`
	PasswordFile text `yaml:"password_file"`
}

// feed makes the adapter of a feed.
func (d *decoder) feed(body ast.Node, key string) source.Adapter {
	var in feedText
	d.decode(body, &in)
	if in.At == (place{}) {
		return nil
	}
	c := feed.Config{Images: in.Images.s, Description: in.Description.s, License: in.License.s}
	c.Declaration = d.declaration(key, feed.LeastPacing, in.siteText)
	for _, a := range in.Authors {
		c.Authors = append(c.Authors, a.s)
	}
	a, err := feed.New(c)
	if d.flaws(err, in.At, map[string]place{"name": in.Name.at, "address": in.Address.at, "direction": in.Direction.at, "images": in.Images.at}) {
		return nil
	}
	return a
}

// catalog makes the adapter of a catalog.
func (d *decoder) catalog(body ast.Node, key string) source.Adapter {
	var in opdsText
	d.decode(body, &in)
	if in.At == (place{}) {
		return nil
	}
	c := opds.Config{Width: d.number(in.Width, "width", 0, 1, opds.MaxWidth)}
	c.Declaration = d.declaration(key, opds.LeastPacing, in.siteText)
	c.Login = d.login(in, c.Address)
	a, err := opds.New(c)
	if d.flaws(err, in.At, map[string]place{"name": in.Name.at, "address": in.Address.at, "direction": in.Direction.at, "password_file": in.PasswordFile.at}) {
		return nil
	}
	return a
}

// declaration reads what feeds and catalogs have in common. What is wrong with a
// place in the file of its own is told here, the rest by the adapter.
func (d *decoder) declaration(key string, least time.Duration, in siteText) source.Declaration {
	d.key(key, in.Key)
	return source.Declaration{
		Key: key, Name: in.Name.s, Address: in.Address.s, Hosts: d.hostList(in.Hosts, "hosts"), Language: d.language(in.Language, "language"),
		Pacing: d.duration(in.Pacing, "pacing", 0, least, mostPacing), Interval: d.duration(in.Interval, "interval", 0, leastInterval, mostInterval), Direction: in.Direction.s,
	}
}

// login reads whose password is sent to a catalog; nil where none is.
func (d *decoder) login(in opdsText, address string) *source.Login {
	switch {
	case in.User.given() && !in.PasswordFile.given():
		d.problem(in.User.at, "user stands without password_file: the file that holds the password")
	case in.PasswordFile.given() && !in.User.given():
		d.problem(in.PasswordFile.at, "password_file stands without user: whose password it is")
	case in.User.given():
		file := in.PasswordFile.s
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(d.file), file)
		}
		d.beside = append(d.beside, file)
		password, err := readPassword(file)
		if err != nil {
			d.problem(in.PasswordFile.at, "password_file: %s: %s", file, err)
			return nil
		}
		if strings.Contains(in.User.s, ":") {
			d.problem(in.User.at, "user holds a colon, which no name that is sent with a password can")
			return nil
		}
		if base, err := url.Parse(address); err == nil {
			base.Host = strings.ToLower(base.Host)
			return source.NewLogin(base, in.User.s, password)
		}
	}
	return nil
}

// flaws tells what an adapter says is wrong, each where it stands, and whether
// there is anything.
func (d *decoder) flaws(err error, whole place, at map[string]place) (found bool) {
	var flaws source.Flaws
	if err != nil && !errors.As(err, &flaws) {
		d.problem(whole, "%s", err)
	}
	for _, f := range flaws {
		where := at[f.Field]
		if f.Field == "key" || f.Field == "pacing" {
			continue // told already
		}
		if where == (place{}) {
			where = whole
		}
		if f.Message == "it is missing" {
			d.problem(where, "%s is missing", f.Field)
			continue
		}
		d.problem(where, "%s: %s", f.Field, f.Message)
	}
	return err != nil
}

// maxPassword bounds the file of a password.
const maxPassword = 1 << 10

// readPassword reads a password from a file that nobody but its owner may read.
// Nothing of it gets into an error.
func readPassword(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", errors.New(reason(err))
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "", errors.New("it is no file")
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others may read it (its mode is %04o); chmod 600 it", info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPassword+1))
	password := strings.TrimRight(string(data), "\r\n")
	switch {
	case err != nil:
		return "", errors.New(reason(err))
	case len(data) > maxPassword:
		return "", fmt.Errorf("it is larger than %d bytes", maxPassword)
	case password == "":
		return "", errors.New("it is empty")
	case strings.ContainsFunc(password, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", errors.New("it holds more than one line, or what is no text")
	}
	return password, nil
}
