// Package control answers an operator on a unix socket and an external monitor
// by gRPC health on TCP. It only tells what the keepers know: it starts and
// stops nothing, and answers with the database down.
package control

import (
	"context"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/grpcserver"
	supervisorv1 "mangrove/proto/gen/supervisor/v1"
	"mangrove/supervisor/internal/service"
)

// Budget is how the crash budget stands, said in `mangrove status`.
const Budget = "not enforced"

// Facts are what does not change while the supervisor runs.
type Facts struct {
	Version string
	Started time.Time
	// Address is where a browser finds the reader, Data the data folder.
	Address, Data string
}

// NewOperator makes the operator's server; only peers running as one of uids
// are answered. services returns every service in start order.
func NewOperator(log *zap.Logger, facts Facts, services func() []service.Status, uids ...int) *grpcserver.Server {
	s := grpcserver.New(log, grpc.Creds(grpcserver.PeerCredentials(uids...)))
	supervisorv1.RegisterSupervisorServiceServer(s.Server, &operator{facts: facts, services: services})
	s.Set(grpcserver.Liveness, true)
	s.Set(grpcserver.Readiness, true)
	return s
}

type operator struct {
	supervisorv1.UnimplementedSupervisorServiceServer
	facts    Facts
	services func() []service.Status
}

// GetStatus answers the state of every service.
func (o *operator) GetStatus(context.Context, *supervisorv1.GetStatusRequest) (*supervisorv1.GetStatusResponse, error) {
	out := &supervisorv1.GetStatusResponse{
		Version: o.facts.Version, StartedAt: timestamppb.New(o.facts.Started),
		Budget: Budget, Address: o.facts.Address, Data: o.facts.Data,
	}
	for _, s := range o.services() {
		row := &supervisorv1.Service{
			Name: s.Name, State: string(s.State), Since: timestamppb.New(s.Since), Pid: int32(s.PID), Failures: int32(s.Failures),
			LastExit: s.LastExit, LastLines: s.LastLines, Reason: s.Reason,
		}
		if !s.NextStart.IsZero() {
			row.NextStart = timestamppb.New(s.NextStart)
		}
		out.Services = append(out.Services, row)
	}
	return out, nil
}
