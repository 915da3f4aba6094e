// Package failpoint names the steps at which a test may kill this program or let
// the disk fail under it. In an ordinary build its functions are empty and leave
// nothing behind in the program; the build tag `faults` puts the real ones in
// their place, which do what the environment variable FAULT_POINT says. It
// changes nothing of what the program does between two points, and no product
// decision may depend on it.
package failpoint

// The points, in the order in which a chapter passes them. The comment says what
// has happened when one is reached.
const (
	// StartStages: the stages an earlier process left are listed, none is removed.
	StartStages = "start.stages"
	// RecoveryCrash: the crash before this start is recorded with its Job.
	RecoveryCrash = "recovery.crash"
	// RecoveryJobs: what was under way is back where its checkpoint says.
	RecoveryJobs = "recovery.jobs"
	// JobClaimed: a Job is downloading, its chapter is not chosen.
	JobClaimed = "job.claimed"
	// ChapterStarted: a chapter is under way and nothing is asked.
	ChapterStarted = "chapter.started"
	// PacingSleep: a request waits for its turn.
	PacingSleep = "pacing.sleep"
	// PageRequested: an image is being answered, its body is not read.
	PageRequested = "page.requested"
	// PageHalf: half of a page is in its pending file.
	PageHalf = "page.half"
	// PageWritten: all of it is, without a record.
	PageWritten = "page.written"
	// JournalHalf: half of its record is written.
	JournalHalf = "journal.half"
	// PageRecorded: it has its record and still its pending name.
	PageRecorded = "page.recorded"
	// PageNamed: it has its name, the checkpoint does not know.
	PageNamed = "page.named"
	// FileHalf: half of a file that is replaced whole is in its temporary file.
	FileHalf = "file.half"
	// ArchiveHalf: some pages are in the archive.
	ArchiveHalf = "archive.half"
	// ArchiveWritten: all are, and it is not synced.
	ArchiveWritten = "archive.written"
	// ArchiveSynced: it is synced, and not visible.
	ArchiveSynced = "archive.synced"
	// FolderMade: the Series has its folder, the archive is not in it.
	FolderMade = "folder.made"
	// ChapterRenamed: the chapter is visible, its folder is not synced.
	ChapterRenamed = "chapter.renamed"
	// FolderSynced: the folder is synced, nothing is committed.
	FolderSynced = "folder.synced"
	// CommitHalf: the first of two statements of a replacement's commit is done.
	CommitHalf = "commit.half"
	// ChapterCommitted: the chapter is committed, the checkpoint does not know.
	ChapterCommitted = "chapter.committed"
	// FileRetiring: the file that was replaced is still there.
	FileRetiring = "file.retiring"
	// StageRemoving: the stage of a committed chapter is still there.
	StageRemoving = "stage.removing"
	// ChapterDone: a chapter's work is over, the next unit is not begun.
	ChapterDone = "chapter.done"
	// JobFailing: a failure is known and not written.
	JobFailing = "job.failing"
	// JobFailed: it is written, and no incident is.
	JobFailed = "job.failed"
	// RetryTold: an operator's Retry has moved the Job, in an open transaction.
	RetryTold = "retry.told"
)

// Points lists every point once.
func Points() []string {
	return []string{
		StartStages, RecoveryCrash, RecoveryJobs, JobClaimed, ChapterStarted, PacingSleep, PageRequested, PageHalf, PageWritten, JournalHalf,
		PageRecorded, PageNamed, FileHalf, ArchiveHalf, ArchiveWritten, ArchiveSynced, FolderMade, ChapterRenamed, FolderSynced, CommitHalf,
		ChapterCommitted, FileRetiring, StageRemoving, ChapterDone, JobFailing, JobFailed, RetryTold,
	}
}

// The operations that a test may let fail, by the path they are about.
const (
	Write  = "write"
	Sync   = "sync"
	Rename = "rename"
	Mkdir  = "mkdir"
)
