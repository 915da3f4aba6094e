package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mangrove/internal/config"
	supervisorv1 "mangrove/proto/gen/supervisor/v1"
	"mangrove/supervisor/internal/service"
)

// actLimit is how long an act may take to be taken up: a service that is starting or
// stopping is in the middle of something.
const actLimit = 30 * time.Second

const actCodes = "It answers while the database, the reader and the scraper are down.\n\nExit codes: 0 done, 1 refused, 2 a wrong setting, 3 no supervisor answers.\n\n"

// oneService is the argument of every act.
type oneService struct {
	Service string `arg:"" enum:"postgres,scraper,reader" help:"Which service: postgres, scraper or reader."`
}

type startCommand struct {
	What string `arg:"" optional:"" help:"A service (postgres, scraper, reader), or a Job's number."`
	All  bool   `help:"All Jobs that are ready."`
}

// Help is shown by `mangrove start --help`.
func (startCommand) Help() string {
	return "Starts a service that is stopped, parked or blocked: a parked one only once its hour has freed a failure. Or gives a Job that is ready the word it waits for.\n\n" +
		"Exit codes: 0 done, 1 refused, 2 a wrong setting, 3 no supervisor or no database answers.\n\nExamples: mangrove start scraper, mangrove start 12, mangrove start --all"
}

// Run starts a service, or what is ready (JOB-3).
func (c startCommand) Run(con console) error {
	if slices.Contains([]string{"postgres", "scraper", "reader"}, c.What) && !c.All {
		return act(con, c.What, service.ActStart)
	}
	return operateOnJob(con, "start", c.What, c.All)
}

type stopCommand struct{ oneService }

// Help is shown by `mangrove stop --help`.
func (stopCommand) Help() string {
	return "Stops one service until it is started again; the others go on. To stop everything, end `mangrove up`.\n\n" + actCodes + "Example: mangrove stop scraper"
}

// Run stops a service.
func (c stopCommand) Run(con console) error { return act(con, c.Service, service.ActStop) }

type restartCommand struct{ oneService }

// Help is shown by `mangrove restart --help`.
func (restartCommand) Help() string {
	return "Stops a service and starts it again; that is no failure. A parked one is started once its hour has freed a failure, and otherwise the answer says when that is.\n\n" +
		actCodes + "Example: mangrove restart scraper"
}

// Run restarts a service.
func (c restartCommand) Run(con console) error { return act(con, c.Service, service.ActRestart) }

type resetCommand struct{ oneService }

// Help is shown by `mangrove reset-budget --help`.
func (resetCommand) Help() string {
	return "Forgives a service its failures before their hour is over: look at them first. The service must be stopped or parked. Its runtime file is copied, its failures are " +
		"cleared, and nothing else is touched; start it afterwards.\n\n" + actCodes + "Example: mangrove reset-budget scraper"
}

// Run clears a budget (SUP-5).
func (c resetCommand) Run(con console) error { return act(con, c.Service, service.ActReset) }

// act asks the running supervisor for an act and prints what came of it.
func act(con console, name string, what service.Act) error {
	c, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), actLimit)
	defer cancel()
	said := ""
	err = ask(c, func(api supervisorv1.SupervisorServiceClient) error {
		answer, err := api.Act(ctx, &supervisorv1.ActRequest{Service: name, Act: string(what)})
		said = answer.GetSaid()
		return err
	})
	switch st, answered := status.FromError(err); {
	case err == nil:
		_, err = fmt.Fprintln(con.out, printable(said))
		return err
	case ctx.Err() != nil:
		return coded(config.ExitFailure, "%s did not take it up within %s; look at mangrove status and try again", name, actLimit)
	case answered && st.Code() == codes.FailedPrecondition:
		return coded(config.ExitFailure, "%s", st.Message())
	case answered:
		err = errNotRunning
	}
	return coded(exitNotRunning, "no Mangrove answers for the data folder %s (%w)", c.DataDir, err)
}
