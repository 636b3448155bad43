//! The rules, and the log of violations.

use flashlane_core::Time;

/// Declares [`Rule`] once: variant, and the sentence that must hold.
macro_rules! rules {
    ($($name:ident $text:literal,)*) => {
        /// A rule that must always hold. [`Rule::statement`] gives it as a sentence.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule {
            $(#[doc = $text] $name,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];

            /// The variant's name.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$name => stringify!($name),)* }
            }

            /// What must hold.
            pub const fn statement(self) -> &'static str {
                match self { $(Rule::$name => $text,)* }
            }
        }
    };
}

rules! {
    TimeForward "Time never runs backwards.",
    Address "Every flow, plane, block, page and unit exists; every transfer is of 1 byte to a page.",

    SubmitOnce "A request is submitted at most once.",
    RequestKnown "Only a request in flight is admitted, served or given transactions.",
    AdmitOnce "A request is admitted at most once.",
    AdmitFirst "A request has no page served and no transaction before it is admitted.",
    InFlight "The device holds no more commands than its limit and the depth of their queue.",
    AdmitTime "A request is admitted no earlier than it has crossed the link, the data of one after the other, and the controller is done with it.",
    CompleteOnce "A request completes at most once, and only if it was submitted.",
    NotBeforeArrival "A request does not complete before it arrived.",
    NotBeforeTransactions "A request does not complete before its last transaction ended.",
    PageCount "A request completes with exactly its number of pages served.",
    NotBeforeSuccessor "A request with a cancelled write completes no earlier than the write that took its place, unless cancelled writes end at once.",
    CompleteTime "A request completes when its last page is served and its answer has crossed the link, one after the other.",
    FlushTime "A flush that has nothing to wait for takes the time of the memory; under serial service a flush takes that of the pages it writes.",
    SharedOrder "Where reads wait behind writes without space in the buffer, no page of a read is served before an older write of its part has its space.",
    WriteFromMemory "Only a write-back buffer serves a write without the flash.",
    SerialHit "Only under serial service the flash serves a page without a transaction: exactly what the buffer does not serve.",
    SerialEvict "Only under serial service a page leaves the buffer at once: the least recently used, when another needs its place.",
    Alone "With SATA a trim or a flush is the only command in the device.",
    TrimPages "A trim unmaps exactly the whole pages inside its range, as it enters the device.",
    TrimDrops "A write ends without the flash for a trim only in the instant in which that unmaps its page.",
    Durable "Where the buffer loses dirty pages with the power, a flush completes only when the flash has what was acknowledged before it was submitted, and a write with FUA only when the flash has its pages.",
    UnmappedRead "Where reads of unmapped pages need no flash, they use none.",
    Leftover "At the end nothing is in flight.",

    QueueOnce "A transaction joins a queue at most once.",
    TxnShape "A transaction's owner, request, flow and operation agree.",
    TransferBytes "A transaction moves what its request touches of its page; all of it for others and where part of a page is read first.",
    TxnKnown "Only a queued transaction is dispatched.",
    MoveWaiting "Only a waiting program of a host or of the buffer moves to another plane.",
    DispatchOnce "A transaction is dispatched at most once.",
    EndOnce "A transaction ends at most once, and only if it was queued.",
    EndDispatched "Only a dispatched transaction is ended by the flash.",
    DropWaiting "Only a waiting transaction is cancelled or dropped as stale.",
    DropKind "Only a host's or the buffer's program is cancelled; only a garbage-collection move is dropped as stale.",
    HasSuccessor "A cancelled write has a younger write of its page to complete with.",
    WriteOrder "Two writes of one page are dispatched in order of age.",
    RestFirst "A page of the buffer that was written in part has its rest read once, where parts of pages are read first, before it is programmed. Not judged with read_allocate or a mapping cache, where the events do not tell what the buffer holds.",
    NewestHeld "The newest acknowledged write of a page is held: by a program that waits or runs, by the buffer, or by the flash.",
    ReadNewest "A read of the flash returns the newest write of its page taken in before it, or a younger one.",
    ReadFromMemory "Without a buffer, a read is served from memory only while a write of its page has not ended.",
    ReadHazard "A host read of a page whose write waits is served from memory, not queued.",
    EntryFirst "Where the map lies on the flash, a transaction for a logical page is queued only when memory could have the page's entry: its translation page was read, or the page was written, moved or trimmed.",
    EntryHeld "Memory holds the entries of the map that were used last, the controller's the last of them: an entry is found where they leave it, and comes only when it was looked up.",
    EntryWritten "A translation page is written when a dirty entry of it has made room, after it has been read unless memory had all its entries, and only then.",
    Slack "Slack is never negative (it would have wrapped).",
    EstimateWaiting "Only a waiting host transaction is estimated.",
    SlackShrinks "Slack never grows: a transaction is dispatched with no more than it was estimated to have.",

    CommandNumber "Command numbers count up and name one command.",
    NotIdle "A unit is not idle at the end of an instant at which it could begin something: a read, garbage collection, or the oldest waiting write of a page.",
    OldestFirst "First come, first served: a unit begins the older of the first read and the first write that wait for it and could begin.",
    UnitBusy "A unit works on one command at a time.",
    OwnUnit "A command works only planes of its own unit.",
    CommandClosed "All members of a command are dispatched at one instant, before its first phase.",
    SameOp "All members of a command do the same operation.",
    PlaneOnce "A command works a plane once.",
    MultiPlane "A command works several planes of a die only if the device can.",
    MultiDie "A command works several dies only if the device can.",
    SamePage "Planes of one die work the same page offset where the device demands it.",
    CommandKnown "A phase or an end belongs to a command its unit works on.",
    PhaseOrder "Phases come in the order of the operation, each at the instant the one before it leaves.",
    OwnChannel "A unit uses the bus of its own channel.",
    BusOverlap "A bus carries one transfer at a time.",
    BusLength "A bus phase lasts the configured time of its members.",
    ArrayLength "An array phase lasts the configured time.",
    EndTime "A transaction ends with the array phase (program, erase) or with its data on the bus (read).",

    PauseAllowed "Only what the scheduler may pause is paused.",
    PauseLimit "A program or an erase is paused no more often than the device can.",
    PauseBoundary "A program is paused at the end of an iteration where the scheduler pauses there, a program or an erase where the drive does.",
    PauseGap "Between the end of a pause of a program or an erase and its next pause the least time passes that the drive needs.",
    PauseRemaining "A pause leaves exactly the array time not yet spent.",
    PauseReads "While a command is paused its unit serves only reads.",
    SuspendTime "A unit serves nothing before its suspend time is over.",
    ResumeTime "A paused array phase goes on as soon as its unit has served what it was paused for and the resume time has passed, with what was left.",
    PausedTime "A transaction reports the time its command was paused.",

    StartState "Before the first event every logical page lies on a written page of its own.",
    PageOnce "A page is programmed once between erases.",
    PageOrder "Pages of a block are programmed in ascending order and none is skipped (a skipped page would be lost).",
    Wordline "With one-shot programs native cells take whole wordlines: pages one after the other by one program, and the rest padded.",
    Padding "A wordline of pages from the buffer is padded only where a flush or a write with FUA waits for it, its first page has waited long enough, a translation page is in it, pages of it were trimmed, or a page found no place in the SLC cache.",
    MapProgram "Every program maps its page at dispatch, and nothing is mapped without a program.",
    OwnPlane "A program lands on the plane it was queued for.",
    ReadPlace "A read reads the current copy of its page or, if a younger write took that to another plane, the copy it had until then.",

    VictimState "A victim is a fully written block that is not a victim already.",
    VictimCount "A victim is reported with the valid pages it has.",
    VictimChoice "A victim has an invalid page (with one-shot programs, as many as a wordline has), and is the block its policy says: emptiest, full for longest, or most benefit by age.",
    VictimNeed "A victim is chosen only in a plane with fewer free blocks than the threshold.",
    VictimInTime "A plane with fewer free blocks than the threshold is collected from that instant on, if a block would yield a page.",
    MoveFromVictim "Garbage collection reads only out of victims.",
    StaleMove "A move does not overwrite a younger write.",
    EraseVictim "Only a victim is erased.",
    EraseMoves "The moves of a victim end before it is erased.",
    EraseValid "A block that holds a valid page is not erased.",
    EraseRead "A block is not erased before the reads that keep a page of it have ended.",
    EraseDone "A block is reported erased in the instant its erase ends, and only then.",

    SlcOpen "A block is opened in SLC mode while it is erased, where the cache has no page left, and if it is not static only beyond the free blocks that collection wants.",
    SlcPages "A block in SLC mode takes the pages of one bit a cell.",
    SlcFirst "A host's or the buffer's page goes to native cells only where the cache has no page for it and the device does not wait for a fold.",
    SlcMoves "Moved pages go to native cells.",
    FoldNeed "A block in SLC mode is folded for a waiting write that finds the cache full, in idle time, or if it is not static for free blocks.",
    FoldOrder "Blocks in SLC mode are folded in the order in which they were filled.",
    FoldFirst "A victim is chosen for free blocks only where folding gives none.",
    FoldOwner "Folding empties and erases blocks in SLC mode, garbage collection the others.",
}

/// A violation of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The instant of the event that broke it.
    pub at: Time,
    /// The rule.
    pub rule: Rule,
    /// What was seen and what would have been right.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {} {}", self.at, self.rule.name(), self.message, self.rule.statement())
    }
}

/// The result of an audit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Events seen.
    pub events: u64,
    /// Violations found.
    pub total: u64,
    /// The first of them.
    pub kept: Vec<Violation>,
    /// How often each broken rule was broken, in the order of [`Rule::ALL`].
    pub by_rule: Vec<(Rule, u64)>,
}

impl Verdict {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.total == 0
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_clean() {
            return write!(f, "audit: {} events, no violation", self.events);
        }
        write!(f, "audit: {} events, {} violations", self.events, self.total)?;
        for (rule, count) in &self.by_rule {
            write!(f, "\n  {count} x {}: {}", rule.name(), rule.statement())?;
        }
        for violation in &self.kept {
            write!(f, "\n  {}: {}: {}", violation.at, violation.rule.name(), violation.message)?;
        }
        Ok(())
    }
}

/// Collects violations: counts all, and keeps the first few with their messages.
#[derive(Debug)]
pub(super) struct Log {
    /// The instant that violations are reported for.
    pub(super) now: Time,
    keep: usize,
    kept: Vec<Violation>,
    counts: Vec<u64>,
}

impl Log {
    pub(super) fn new(keep: usize) -> Log {
        Log { now: Time::ZERO, keep, kept: Vec::new(), counts: vec![0; Rule::ALL.len()] }
    }

    /// Reports a violation; the message is made only if it will be kept.
    #[cold]
    pub(super) fn report(&mut self, rule: Rule, message: impl FnOnce() -> String) {
        self.counts[rule as usize] += 1;
        if self.kept.len() < self.keep {
            self.kept.push(Violation { at: self.now, rule, message: message() });
        }
    }

    /// Reports unless `holds`.
    #[inline]
    pub(super) fn check(&mut self, holds: bool, rule: Rule, message: impl FnOnce() -> String) -> bool {
        if !holds {
            self.report(rule, message);
        }
        holds
    }

    pub(super) fn kept(&self) -> &[Violation] {
        &self.kept
    }

    pub(super) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(super) fn verdict(self, events: u64) -> Verdict {
        let total = self.total();
        let by_rule =
            Rule::ALL.iter().map(|&rule| (rule, self.counts[rule as usize])).filter(|&(_, count)| count > 0).collect();
        Verdict { events, total, kept: self.kept, by_rule }
    }
}
