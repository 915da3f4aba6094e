// Package control answers an operator on a unix socket and an external monitor
// by gRPC health on TCP. It tells what the keepers know and hands them an
// operator's acts: it starts and stops nothing itself, and answers with the
// database down.
package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/grpcserver"
	supervisorv1 "mangrove/proto/gen/supervisor/v1"
	"mangrove/supervisor/internal/budget"
	"mangrove/supervisor/internal/service"
	"mangrove/supervisor/internal/trial"
)

// Facts are what does not change while the supervisor runs.
type Facts struct {
	Version string
	Started time.Time
	// Address is where a browser finds the reader now.
	Address func() string
	// Data is the data folder, Metrics where Prometheus is answered, "" for nowhere.
	Data, Metrics string
}

// Trials puts settings on trial.
type Trials interface {
	Try(ctx context.Context, name, value string, within time.Duration) (said string, err error)
	Keep(ctx context.Context) (said string, err error)
	// Said is in one line what is on trial, or became of the last one.
	Said() string
}

// NewOperator makes the operator's server; only peers running as one of uids
// are answered. services returns every service in start order.
// act is what an operator may do to one service, trials what to settings.
func NewOperator(log *zap.Logger, facts Facts, services func() []service.Status, act Act, trials Trials, uids ...int) *grpcserver.Server {
	s := grpcserver.New(log, grpc.Creds(grpcserver.PeerCredentials(uids...)))
	supervisorv1.RegisterSupervisorServiceServer(s.Server, &operator{log: log, facts: facts, services: services, act: act, trials: trials})
	s.Set(grpcserver.Liveness, true)
	s.Set(grpcserver.Readiness, true)
	return s
}

type operator struct {
	supervisorv1.UnimplementedSupervisorServiceServer
	log      *zap.Logger
	facts    Facts
	services func() []service.Status
	act      Act
	trials   Trials
}

// Act does an operator's act on the service of that name.
type Act func(ctx context.Context, name string, act service.Act) (said string, err error)

// Act does one act, and leaves a line in the log whatever came of it (SUP-5).
func (o *operator) Act(ctx context.Context, r *supervisorv1.ActRequest) (*supervisorv1.ActResponse, error) {
	act := service.Act(r.GetAct())
	if !slices.Contains(service.Acts(), act) {
		return nil, status.Errorf(codes.InvalidArgument, "%q is no act", r.GetAct())
	}
	said, err := o.act(ctx, r.GetService(), act)
	o.log.Info("operator", zap.String("name", r.GetService()), zap.String("act", string(act)), zap.String("said", said), zap.NamedError("refused", err))
	if err != nil {
		return nil, refusal(err)
	}
	return &supervisorv1.ActResponse{Said: said}, nil
}

// refusal tells what is not allowed from what could not be done.
func refusal(err error) error {
	if errors.Is(err, service.ErrRefused) || errors.Is(err, trial.ErrRefused) {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return status.Error(codes.FailedPrecondition, why)
	}
	return status.Error(codes.Unavailable, err.Error())
}

// TrySetting puts a setting on trial. Its value, which may be secret, stands in no log.
func (o *operator) TrySetting(ctx context.Context, r *supervisorv1.TrySettingRequest) (*supervisorv1.TrySettingResponse, error) {
	said, err := o.trials.Try(ctx, r.GetName(), r.GetValue(), time.Duration(r.GetSeconds())*time.Second)
	o.log.Info("operator", zap.String("name", r.GetName()), zap.String("act", "try"), zap.String("said", said), zap.NamedError("refused", err))
	if err != nil {
		return nil, refusal(err)
	}
	return &supervisorv1.TrySettingResponse{Said: said}, nil
}

// KeepSetting keeps what is on trial.
func (o *operator) KeepSetting(ctx context.Context, _ *supervisorv1.KeepSettingRequest) (*supervisorv1.KeepSettingResponse, error) {
	said, err := o.trials.Keep(ctx)
	o.log.Info("operator", zap.String("act", "keep"), zap.String("said", said), zap.NamedError("refused", err))
	if err != nil {
		return nil, refusal(err)
	}
	return &supervisorv1.KeepSettingResponse{Said: said}, nil
}

// GetStatus answers the state of every service.
func (o *operator) GetStatus(context.Context, *supervisorv1.GetStatusRequest) (*supervisorv1.GetStatusResponse, error) {
	out := &supervisorv1.GetStatusResponse{
		Version: o.facts.Version, StartedAt: timestamppb.New(o.facts.Started),
		Budget: fmt.Sprintf("%d failures within %s park a service", budget.Limit, "an hour"), Address: o.facts.Address(), Trial: o.trials.Said(), Data: o.facts.Data, Metrics: o.facts.Metrics,
	}
	for _, s := range o.services() {
		row := &supervisorv1.Service{
			Name: s.Name, State: string(s.State), Since: timestamppb.New(s.Since), Pid: int32(s.PID), Failures: int32(s.Failures),
			LastExit: s.LastExit, LastLines: s.LastLines, Reason: s.Reason,
		}
		if !s.NextStart.IsZero() {
			row.NextStart = timestamppb.New(s.NextStart)
		}
		row.BudgetLeft = int32(s.Left)
		if !s.FreesAt.IsZero() {
			row.BudgetFreesAt = timestamppb.New(s.FreesAt)
		}
		for _, e := range s.Exits {
			row.Exits = append(row.Exits, &supervisorv1.Exit{At: timestamppb.New(e.Wall), What: e.What, LastLines: e.LastLines})
		}
		row.NextAct = service.NextAct(s)
		out.Services = append(out.Services, row)
	}
	return out, nil
}
