package lane

import (
	"go.uber.org/zap/zapcore"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/canary"
)

// levelOf is the log level the class table gives.
func levelOf(c fault.Class) zapcore.Level {
	l, err := zapcore.ParseLevel(fault.Lookup(c).Level)
	if err != nil {
		return zapcore.ErrorLevel
	}
	return l
}

// levelOfTrial is the log level of what the canary found: a bad trial is worth a line.
func levelOfTrial(o canary.Outcome) zapcore.Level {
	if o.Verdict() == canary.Bad {
		return zapcore.WarnLevel
	}
	return zapcore.InfoLevel
}
