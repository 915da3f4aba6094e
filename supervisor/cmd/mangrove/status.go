package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"text/tabwriter"
	"time"

	"mangrove/internal/config"
	"mangrove/internal/grpcserver"
	supervisorv1 "mangrove/proto/gen/supervisor/v1"
)

// statusLimit is how long the supervisor may take to answer.
const statusLimit = 5 * time.Second

type statusCommand struct{}

// Help is shown by `mangrove status --help`.
func (statusCommand) Help() string {
	return "Asks the running supervisor of the data folder (MANGROVE_DATA) over its private socket.\n\n" +
		"Exit codes: 0 answered, 2 a wrong setting, 3 no supervisor answers.\n\n" +
		"Example: MANGROVE_DATA=/srv/mangrove mangrove status"
}

// Run is `mangrove status`.
func (statusCommand) Run(con console) error {
	c, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	answer, err := askStatus(context.Background(), c)
	if err != nil {
		return coded(exitNotRunning, "no Mangrove answers for the data folder %s (%w)", c.DataDir, err)
	}
	return writeStatus(con.out, answer)
}

// errNotRunning is said when the socket is not there, or nobody answers on it.
var errNotRunning = errors.New("it is not running")

// askStatus asks the supervisor of c's data folder how everything stands.
func askStatus(ctx context.Context, c config.Config) (answer *supervisorv1.GetStatusResponse, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	err = ask(c, func(api supervisorv1.SupervisorServiceClient) (err error) {
		if answer, err = api.GetStatus(ctx, &supervisorv1.GetStatusRequest{}); err != nil {
			err = errNotRunning
		}
		return err
	})
	return answer, err
}

// ask calls the supervisor of c's data folder, as root for whoever runs it.
func ask(c config.Config, do func(supervisorv1.SupervisorServiceClient) error) error {
	info, err := os.Stat(c.ControlSocket())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errNotRunning
	case errors.Is(err, os.ErrPermission):
		return errors.New("its socket may not be used by this user")
	case err != nil:
		return err
	}
	owner := os.Geteuid()
	if st, ok := info.Sys().(*syscall.Stat_t); ok && owner == 0 {
		owner = int(st.Uid)
	}
	conn, err := grpcserver.DialUnix(c.ControlSocket(), owner)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return do(supervisorv1.NewSupervisorServiceClient(conn))
}

func serves(status *supervisorv1.GetStatusResponse, name string) bool {
	for _, s := range status.GetServices() {
		if s.GetName() == name {
			return s.GetState() == "serving"
		}
	}
	return false
}

// writeStatus prints the answer for a person.
func writeStatus(out io.Writer, a *supervisorv1.GetStatusResponse) error {
	const clock = "2006-01-02 15:04:05"
	fmt.Fprintf(out, "Mangrove %s, running since %s\n\n", a.GetVersion(), a.GetStartedAt().AsTime().Local().Format(clock))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SERVICE\tSTATE\tSINCE\tPID\tFAILURES\tBUDGET")
	for _, s := range a.GetServices() {
		pid := "-"
		if s.GetPid() != 0 {
			pid = fmt.Sprint(s.GetPid())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", s.GetName(), s.GetState(), s.GetSince().AsTime().Local().Format(clock), pid, s.GetFailures(), budgetWords(s))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, s := range a.GetServices() {
		if s.GetReason() != "" {
			fmt.Fprintf(out, "%s: reason: %s\n", s.GetName(), printable(s.GetReason()))
		}
		if s.GetNextStart() != nil {
			fmt.Fprintf(out, "%s: next start: %s\n", s.GetName(), s.GetNextStart().AsTime().Local().Format(clock))
		}
		for _, e := range s.GetExits() {
			fmt.Fprintf(out, "%s: exit at %s: %s\n", s.GetName(), e.GetAt().AsTime().Local().Format(clock), printable(e.GetWhat()))
			for _, l := range e.GetLastLines() {
				fmt.Fprintf(out, "    %s\n", printable(l))
			}
		}
		if s.GetNextAct() != "" {
			fmt.Fprintf(out, "%s: next: %s\n", s.GetName(), s.GetNextAct())
		}
	}
	if a.GetTrial() != "" {
		fmt.Fprintf(out, "setting: %s\n", printable(a.GetTrial()))
	}
	fmt.Fprintf(out, "budget: %s\naddress: %s\ndata: %s\nmetrics: %s\n", a.GetBudget(), a.GetAddress(), a.GetData(), cmp.Or(a.GetMetrics(), "nowhere"))
	return nil
}

// budgetWords says how much of the hour's budget is left, and when a spent one frees.
func budgetWords(s *supervisorv1.Service) string {
	if s.GetBudgetFreesAt() != nil {
		return "spent until " + s.GetBudgetFreesAt().AsTime().Local().Format("15:04:05")
	}
	return fmt.Sprintf("%d left", s.GetBudgetLeft())
}
