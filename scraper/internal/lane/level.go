package lane

import (
	"go.uber.org/zap/zapcore"

	"mangrove/internal/fault"
)

// levelOf is the log level the class table gives.
func levelOf(c fault.Class) zapcore.Level {
	l, err := zapcore.ParseLevel(fault.Lookup(c).Level)
	if err != nil {
		return zapcore.ErrorLevel
	}
	return l
}
