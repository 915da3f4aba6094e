package web

import "mangrove/internal/unreadable"

// refusal is why a file cannot be read, for people: in two words, as a sentence,
// and what to do next.
type refusal struct{ Word, Icon, Text, Next string }

// refusalOf words a reason.
func (t tongue) refusalOf(why unreadable.Reason) refusal {
	switch why {
	case unreadable.Empty:
		return refusal{t.T("Empty file"), "warn", t.T("Its file holds nothing at all."), t.T("Copy it into the library again.")}
	case unreadable.NotAnArchive:
		return refusal{t.T("Not an archive"), "warn", t.T("Whatever its name says, its file is no ZIP, RAR or 7z archive."), t.T("Look at what it is, and put an archive in its place.")}
	case unreadable.Encrypted:
		return refusal{t.T("Needs a password"), "lock", t.T("Its file is locked with a password, and none is tried here."), t.T("Unpack it, and pack it again without one.")}
	case unreadable.TooLarge:
		return refusal{t.T("Too large"), "warn", t.T("Its file would unpack to more than is allowed: 5,000 entries, 2 GiB in all, or 200 times its own size."), t.T("Split it, or pack it again without what is no page.")}
	case unreadable.UnsafeNames:
		return refusal{t.T("Unsafe names"), "shield", t.T("A name in its file reaches out of the archive, as harmful ones do."), t.T("If you trust where it is from, unpack it and pack its pages again.")}
	case unreadable.DuplicateNames:
		return refusal{t.T("Doubled names"), "copy", t.T("Its file holds two pages of the same name, and which of them is meant cannot be told."), t.T("Unpack it, name its pages apart, and pack them again.")}
	case unreadable.NoPages:
		return refusal{t.T("No pages"), "pages", t.T("Its file holds no picture that can be shown: JPEG, PNG, GIF, WebP or AVIF."), t.T("Put its pages into it in one of those, or take it out of the library.")}
	case unreadable.Unsupported:
		return refusal{t.T("Packed otherwise"), "puzzle", t.T("Its file is packed in a way that is not read, or is one part of a set."), t.T("Pack it again as one CBZ.")}
	}
	return refusal{t.T("Damaged"), "warn", t.T("Its file is damaged or cut short."), t.T("Copy it into the library again from where it came from.")}
}
