package account

import "strings"

// Device words a browser for the person who has to recognise it in a list:
// "Firefox on Linux". It names only what it knows; the header itself, which is
// the browser's to write, is kept nowhere.
func Device(userAgent string) string {
	browser := firstOf(userAgent, [][2]string{
		{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"FxiOS/", "Firefox"}, {"Firefox/", "Firefox"},
		{"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	})
	machine := firstOf(userAgent, [][2]string{
		{"iPad", "iPad"}, {"iPhone", "iPhone"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"}, {"Linux", "Linux"},
	})
	switch {
	case browser == "" && machine == "":
		return "Another program"
	case browser == "":
		return "A program on " + machine
	case machine == "":
		return browser
	}
	return browser + " on " + machine
}

// firstOf answers the word of the first mark that text holds. The order matters:
// most browsers carry the marks of those they descend from.
func firstOf(text string, marks [][2]string) string {
	for _, m := range marks {
		if strings.Contains(text, m[0]) {
			return m[1]
		}
	}
	return ""
}
