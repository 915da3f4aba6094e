// Package grpcserver makes the gRPC servers of Mangrove's programs: on a unix
// socket that only its own user may use (C28), with the standard health service
// that starts NOT_SERVING, bounded messages and streams (C30), and failure
// classes turned into codes in one place. It knows no service's methods.
package grpcserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"mangrove/internal/fault"
)

// The health names every service answers. Liveness says "my loop turns" and is
// what the supervisor probes; readiness, also "", says "my dependencies answer".
const (
	Liveness  = "liveness"
	Readiness = "readiness"
)

// Server is a gRPC server with its health service.
type Server struct {
	*grpc.Server
	Health *health.Server
}

// New makes a server whose every answer passes the class table. All health
// names start NOT_SERVING: the standard server would say SERVING for "".
func New(log *zap.Logger, opts ...grpc.ServerOption) *Server {
	base := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(4 << 20), grpc.MaxSendMsgSize(4 << 20), grpc.MaxConcurrentStreams(100),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
			defer recovered(log, info.FullMethod, &err)
			resp, err = handler(ctx, req)
			return resp, toStatus(log, info.FullMethod, err)
		}),
		grpc.ChainStreamInterceptor(func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
			defer recovered(log, info.FullMethod, &err)
			return toStatus(log, info.FullMethod, handler(srv, ss))
		}),
	}
	s := &Server{grpc.NewServer(append(base, opts...)...), health.NewServer()}
	for _, name := range []string{"", Liveness, Readiness} {
		s.Health.SetServingStatus(name, grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	}
	grpc_health_v1.RegisterHealthServer(s.Server, s.Health)
	return s
}

// Set says whether name is serving; setting readiness sets "" with it.
func (s *Server) Set(name string, serving bool) {
	st := grpc_health_v1.HealthCheckResponse_NOT_SERVING
	if serving {
		st = grpc_health_v1.HealthCheckResponse_SERVING
	}
	s.Health.SetServingStatus(name, st)
	if name == Readiness {
		s.Health.SetServingStatus("", st)
	}
}

// Stop ends the server: health first so that nobody sends more, then a graceful
// stop within grace, then at once.
func (s *Server) Stop(grace time.Duration) {
	s.Health.Shutdown()
	done := make(chan struct{})
	go func() { s.GracefulStop(); close(done) }()
	select {
	case <-done:
	case <-time.After(grace):
		s.Server.Stop()
		<-done
	}
}

func recovered(log *zap.Logger, method string, err *error) {
	if p := recover(); p != nil {
		log.Error("panic in a handler", zap.String("method", method), zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
		*err = status.Error(codes.Internal, "internal error")
	}
}

// toStatus is the only place where a class becomes a gRPC code. The class, the op
// and the subject of a fault travel; what lies behind it stays in this log.
func toStatus(log *zap.Logger, method string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return status.Error(codes.Canceled, "cancelled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return status.Error(codes.DeadlineExceeded, "took too long")
	}
	row := fault.Lookup(fault.Of(err))
	log.Log(levels[row.Level], "call failed", zap.String("method", method), zap.String("class", string(row.Class)), zap.Error(err))
	said := "failed"
	var f *fault.Error
	if errors.As(err, &f) {
		said = strings.TrimSpace(f.Op + " " + f.Subject)
	}
	st := status.New(row.Code, said)
	if with, derr := st.WithDetails(&errdetails.ErrorInfo{Domain: domain, Reason: string(row.Class)}); derr == nil {
		st = with
	}
	return st.Err()
}

// domain marks the details that our own servers attach.
const domain = "mangrove"

// ClassOf returns the class that the other side's server gave err. ok is false
// when no server did: the call never reached one, or its connection ended.
func ClassOf(err error) (class fault.Class, ok bool) {
	st, _ := status.FromError(err)
	for _, d := range st.Details() {
		if info, is := d.(*errdetails.ErrorInfo); is && info.GetDomain() == domain {
			return fault.Class(info.GetReason()), true
		}
	}
	return "", false
}

var levels = map[string]zapcore.Level{"info": zap.InfoLevel, "warn": zap.WarnLevel, "error": zap.ErrorLevel}

// ListenUnix listens on path with mode 0600, in a folder of mode 0700. A socket
// left by a process that is gone is removed; a live one is an error.
func ListenUnix(path string) (net.Listener, error) {
	// sun_path holds 108 bytes with the closing zero.
	if len(path) > 107 {
		return nil, fmt.Errorf("the socket path %s is %d bytes long, at most 107 are possible", path, len(path))
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("%s is in use by another process", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// PeerCredentials are transport credentials for a unix socket that admit only
// peers running as one of uids, before any call is read.
func PeerCredentials(uids ...int) credentials.TransportCredentials { return peerCreds{uids} }

type peerCreds struct{ uids []int }

type peerInfo struct {
	credentials.CommonAuthInfo
	uid int
}

// AuthType names the check in gRPC's peer information.
func (peerInfo) AuthType() string { return "unix-peer" }

func (p peerCreds) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	uid, err := peerUID(conn)
	if err != nil {
		return nil, nil, err
	}
	for _, allowed := range p.uids {
		if uid == allowed {
			return conn, peerInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, uid}, nil
		}
	}
	return nil, nil, fmt.Errorf("user %d may not use this socket", uid)
}

func (p peerCreds) ClientHandshake(_ context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	uid, err := peerUID(conn)
	if err != nil {
		return nil, nil, err
	}
	for _, allowed := range p.uids {
		if uid == allowed {
			return conn, peerInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, uid}, nil
		}
	}
	return nil, nil, fmt.Errorf("the socket belongs to user %d", uid)
}

func (p peerCreds) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "unix-peer"}
}
func (p peerCreds) Clone() credentials.TransportCredentials { return p }
func (p peerCreds) OverrideServerName(string) error         { return nil }

// peerUID asks the kernel who is at the other end (SO_PEERCRED).
func peerUID(conn net.Conn) (int, error) {
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, errors.New("not a unix socket")
	}
	raw, err := uc.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) {
		cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if cerr != nil {
		return 0, cerr
	}
	return int(cred.Uid), nil
}

// DialUnix makes a client connection to a socket of our own user or of one of
// uids. It does not wait for the server.
func DialUnix(path string, uids ...int) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+path,
		grpc.WithTransportCredentials(PeerCredentials(append(uids, os.Geteuid())...)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(4<<20)))
}
