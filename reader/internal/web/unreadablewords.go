package web

import "mangrove/internal/unreadable"

// refusal is why a file cannot be read, for people: in two words, as a sentence,
// and what to do next.
type refusal struct{ Word, Icon, Text, Next string }

// refusalOf words a reason.
func refusalOf(why unreadable.Reason) refusal {
	switch why {
	case unreadable.Empty:
		return refusal{"Empty file", "warn", "Its file holds nothing at all.", "Copy it into the library again."}
	case unreadable.NotAnArchive:
		return refusal{"Not an archive", "warn", "Whatever its name says, its file is no ZIP, RAR or 7z archive.", "Look at what it is, and put an archive in its place."}
	case unreadable.Encrypted:
		return refusal{"Needs a password", "lock", "Its file is locked with a password, and none is tried here.", "Unpack it, and pack it again without one."}
	case unreadable.TooLarge:
		return refusal{"Too large", "warn", "Its file would unpack to more than is allowed: 5,000 entries, 2 GiB in all, or 200 times its own size.", "Split it, or pack it again without what is no page."}
	case unreadable.UnsafeNames:
		return refusal{"Unsafe names", "shield", "A name in its file reaches out of the archive, as harmful ones do.", "If you trust where it is from, unpack it and pack its pages again."}
	case unreadable.DuplicateNames:
		return refusal{"Doubled names", "copy", "Its file holds two pages of the same name, and which of them is meant cannot be told.", "Unpack it, name its pages apart, and pack them again."}
	case unreadable.NoPages:
		return refusal{"No pages", "pages", "Its file holds no picture that can be shown: JPEG, PNG, GIF, WebP or AVIF.", "Put its pages into it in one of those, or take it out of the library."}
	case unreadable.Unsupported:
		return refusal{"Packed otherwise", "puzzle", "Its file is packed in a way that is not read, or is one part of a set.", "Pack it again as one CBZ."}
	}
	return refusal{"Damaged", "warn", "Its file is damaged or cut short.", "Copy it into the library again from where it came from."}
}
