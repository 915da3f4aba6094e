package budget

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Now is this moment by both clocks.
func Now() Moment {
	m := Moment{Wall: time.Now()}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var up unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return m
	}
	m.Boot, m.Up = strings.TrimSpace(string(id)), time.Duration(up.Nano())
	return m
}
