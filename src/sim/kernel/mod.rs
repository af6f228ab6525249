//! What every machine stands on: the clock, the event queue, processes, the network, the trace.
//!
//! Machines act only through it: they send messages, set timers and report events. It knows nothing
//! of what messages mean.
//!
//! # Differs from Kafka
//! Bandwidth is unlimited, a message arrives whole, and one link has one fixed latency. A message
//! that meets a cut link is lost; TCP would send it again once the link is back.

mod report;

use std::collections::BTreeMap;
use std::fmt::from_fn;
use std::sync::Arc;

use super::check::Note;
use super::defect::Defect;
use super::error::KafkaError;
use super::ids::{BrokerId, Machine};
use super::message::{Body, Message, MessageId};
use super::network::Network;
use super::queue::{Queue, Rank};
use super::rng::Rng;
use super::snapshot::MessageView;
use super::timer::Timer;
use super::trace::{EventKind, TraceEvent};

pub use report::Keep;

/// Something that will happen.
#[derive(Clone, Debug)]
pub enum Event {
    /// An action of the scenario, by its place in the list.
    Command(usize),
    /// A message arrives.
    Deliver(MessageId),
    /// A machine notices that the connection of its request is gone.
    Disconnected { machine: Machine, incarnation: u32, request: MessageId, peer: Machine },
    /// A broker notices that a client's connections are gone.
    HungUp { machine: Machine, incarnation: u32, peer: Machine },
    /// A machine's own timer.
    Timer { machine: Machine, incarnation: u32, timer: Timer },
}

/// What a machine's process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessStatus {
    /// It runs.
    Running,
    /// It hangs; what comes in waits for it.
    Paused,
    /// It is not there.
    Stopped,
}

struct Process {
    status: ProcessStatus,
    /// Counts the ends of the process, so that nothing of an earlier one reaches a later one.
    incarnation: u32,
    /// What came in while it was paused, in order.
    backlog: Vec<Event>,
}

/// A message that is under way or held.
struct Open {
    message: Message,
    to_incarnation: u32,
    from_incarnation: u32,
    sent_ms: u64,
    arrives_ms: u64,
    waiting: bool,
}

/// A request whose answer has not been delivered.
struct Outstanding {
    from: Machine,
    from_incarnation: u32,
    to: Machine,
    answered: bool,
}

/// Clock, queue, processes, network, trace.
pub struct Kernel {
    /// The present, in milliseconds.
    pub now_ms: u64,
    /// The links.
    pub network: Network,
    /// The run's chance.
    pub rng: Rng,
    queue: Queue<Event>,
    processes: BTreeMap<Machine, Process>,
    open: BTreeMap<MessageId, Open>,
    outstanding: BTreeMap<MessageId, Outstanding>,
    next_message: u64,
    events: Vec<TraceEvent>,
    next_event: u64,
    sent: Vec<MessageView>,
    notes: Vec<Note>,
    /// Whether events and messages are kept.
    pub keep: Keep,
    /// A rule that a test has broken.
    pub defect: Option<Defect>,
}

impl Kernel {
    /// A kernel at 0 ms.
    #[must_use]
    pub fn new(network: Network, seed: u64) -> Kernel {
        Kernel {
            now_ms: 0,
            network,
            rng: Rng::new(seed),
            queue: Queue::new(),
            processes: BTreeMap::new(),
            open: BTreeMap::new(),
            outstanding: BTreeMap::new(),
            next_message: 0,
            events: Vec::new(),
            next_event: 0,
            sent: Vec::new(),
            notes: Vec::new(),
            keep: Keep::default(),
            defect: None,
        }
    }

    /// Whether a test has broken this rule; outside of tests none is.
    #[must_use]
    pub fn breaks(&self, defect: Defect) -> bool {
        cfg!(test) && self.defect == Some(defect)
    }

    /// Schedules an action.
    pub fn schedule_command(&mut self, at_ms: u64, index: usize) {
        self.queue.push(at_ms, Rank::Action, Event::Command(index));
    }

    /// Sets a timer of a machine's present process.
    pub fn timer(&mut self, machine: &Machine, at_ms: u64, timer: Timer) {
        let incarnation = self.incarnation(machine);
        let event = Event::Timer { machine: machine.clone(), incarnation, timer };
        self.queue.push(at_ms.max(self.now_ms), Rank::Event, event);
    }

    /// Sends a request.
    pub fn request(&mut self, from: &Machine, to: &Machine, body: Body) -> MessageId {
        let id = self.send(from, to, None, body);
        self.outstanding.insert(
            id,
            Outstanding {
                from: from.clone(),
                from_incarnation: self.incarnation(from),
                to: to.clone(),
                answered: false,
            },
        );
        id
    }

    /// Ends a request's connection if it is not answered in time.
    pub fn expire(&mut self, request: MessageId, after_ms: u64) {
        let Some(outstanding) = self.outstanding.get(&request) else { return };
        let event = Event::Disconnected {
            machine: outstanding.from.clone(),
            incarnation: outstanding.from_incarnation,
            request,
            peer: outstanding.to.clone(),
        };
        self.queue.push(self.now_ms + after_ms, Rank::Event, event);
    }

    /// Sends a request that nobody answers (`acks=0`).
    pub fn request_without_answer(&mut self, from: &Machine, to: &Machine, body: Body) {
        self.send(from, to, None, body);
    }

    /// Answers a request, which is then no longer held.
    pub fn answer(&mut self, request: &Message, body: Body) {
        self.release(request.id);
        if let Some(outstanding) = self.outstanding.get_mut(&request.id) {
            outstanding.answered = true;
            self.send(&request.to, &request.from, Some(request.id), body);
        }
    }

    /// Marks a request that has arrived as held.
    pub fn hold(&mut self, request: &Message) {
        if let Some(open) = self.open.get_mut(&request.id) {
            open.waiting = true;
            let text = format_args!("holds the {} of {}", request.body.kind(), request.from);
            self.trace_message(EventKind::Wait, text, request);
        }
    }

    /// Forgets a request: its sender no longer waits for the answer, which is dropped if it comes.
    pub fn give_up(&mut self, request: MessageId) {
        self.outstanding.remove(&request);
    }

    fn release(&mut self, request: MessageId) {
        self.open.remove(&request);
    }

    fn send(
        &mut self,
        from: &Machine,
        to: &Machine,
        answers: Option<MessageId>,
        body: Body,
    ) -> MessageId {
        let id = MessageId(self.next_message);
        self.next_message += 1;
        let arrives_ms = self.now_ms + self.network.latency_ms(from, to);
        let message =
            Message { id, from: from.clone(), to: to.clone(), answers, body: Arc::new(body) };
        let body = &message.body;
        let text = from_fn(|f| write!(f, "{} to {to}: {}", body.kind(), body.carries()));
        self.trace_message(EventKind::Send, text, &message);
        let open = Open {
            to_incarnation: self.incarnation(to),
            from_incarnation: self.incarnation(from),
            sent_ms: self.now_ms,
            arrives_ms,
            waiting: false,
            message,
        };
        if self.keep == Keep::Everything {
            self.sent.push(view(&open));
        }
        self.open.insert(id, open);
        self.queue.push(arrives_ms, Rank::Event, Event::Deliver(id));
        id
    }

    /// When something happens next.
    #[must_use]
    pub fn next_ms(&self) -> Option<u64> {
        self.queue.next_ms()
    }

    /// The next event of the present millisecond that reaches its machine.
    pub fn next_due(&mut self) -> Option<Event> {
        loop {
            let event = self.queue.pop_due(self.now_ms)?;
            let machine = match &event {
                Event::Command(_) => return Some(event),
                Event::Deliver(id) => self.open.get(id).map(|open| open.message.to.clone()),
                Event::Disconnected { machine, incarnation, .. }
                | Event::HungUp { machine, incarnation, .. }
                | Event::Timer { machine, incarnation, .. } => {
                    (self.incarnation(machine) == *incarnation).then(|| machine.clone())
                }
            };
            let Some(machine) = machine else { continue };
            match self.status(&machine) {
                ProcessStatus::Paused if !self.is_lost(&event) => {
                    let process =
                        self.processes.get_mut(&machine).expect("a paused process is known");
                    process.backlog.push(event);
                }
                ProcessStatus::Stopped if !matches!(event, Event::Deliver(_)) => {}
                _ => return Some(event),
            }
        }
    }

    /// Whether a message met a cut link and cannot even wait at its receiver.
    fn is_lost(&self, event: &Event) -> bool {
        let Event::Deliver(id) = event else { return false };
        self.open
            .get(id)
            .is_some_and(|open| self.network.is_cut(&open.message.from, &open.message.to))
    }

    /// Takes a message that has arrived. `None`: it was lost on the way, which the trace then says.
    pub fn arrive(&mut self, id: MessageId) -> Option<Message> {
        let open = self.open.get(&id)?;
        let message = open.message.clone();
        let receiver_gone = self.status(&message.to) == ProcessStatus::Stopped
            || self.incarnation(&message.to) != open.to_incarnation;
        if self.network.is_cut(&message.from, &message.to) {
            self.lose(&message, "the link is cut");
            return None;
        }
        if receiver_gone {
            self.lose(&message, "nobody is there");
            self.refuse(&message);
            return None;
        }
        if let Some(request) = message.answers {
            self.open.remove(&id);
            if self.outstanding.remove(&request).is_none() {
                let text = format!("ignores a late {}", message.body.kind());
                self.trace_message(EventKind::Drop, text, &message);
                return None;
            }
        }
        let (body, from) = (&message.body, &message.from);
        let text = from_fn(|f| write!(f, "{} from {from}: {}", body.kind(), body.carries()));
        self.trace_message(EventKind::Receive, text, &message);
        Some(message)
    }

    /// A request has been handled and is not held: it is no longer under way.
    pub fn handled(&mut self, id: MessageId) {
        if self.open.get(&id).is_some_and(|open| !open.waiting) {
            self.open.remove(&id);
        }
    }

    fn lose(&mut self, message: &Message, why: &str) {
        self.open.remove(&message.id);
        let text = format!("{} from {} is lost: {why}", message.body.kind(), message.from);
        self.trace_message(EventKind::Drop, text, message);
    }

    /// A dead machine's host answers a request with a reset, one hop later.
    fn refuse(&mut self, message: &Message) {
        if self.outstanding.contains_key(&message.id) {
            self.schedule_disconnect(message.id);
        }
    }

    fn schedule_disconnect(&mut self, request: MessageId) {
        let Some(outstanding) = self.outstanding.get(&request) else { return };
        let at = self.now_ms + self.network.latency_ms(&outstanding.to, &outstanding.from);
        let event = Event::Disconnected {
            machine: outstanding.from.clone(),
            incarnation: outstanding.from_incarnation,
            request,
            peer: outstanding.to.clone(),
        };
        self.queue.push(at, Rank::Event, event);
    }

    /// A client's connections to these brokers end; they notice one hop later, unless the link is
    /// cut.
    pub fn hang_up(&mut self, client: &Machine, brokers: &[BrokerId]) {
        for broker in brokers {
            let machine = Machine::Broker(*broker);
            if !self.network.is_cut(client, &machine) {
                let at_ms = self.now_ms + self.network.latency_ms(client, &machine);
                let incarnation = self.incarnation(&machine);
                let event = Event::HungUp { machine, incarnation, peer: client.clone() };
                self.queue.push(at_ms, Rank::Event, event);
            }
        }
    }

    /// Whether a request still waits for its answer; takes it off the list.
    pub fn take_outstanding(&mut self, request: MessageId) -> bool {
        self.outstanding.remove(&request).is_some()
    }

    /// What a machine's process does; a machine that never started is stopped.
    #[must_use]
    pub fn status(&self, machine: &Machine) -> ProcessStatus {
        self.processes.get(machine).map_or(ProcessStatus::Stopped, |process| process.status)
    }

    /// The machine's present incarnation.
    #[must_use]
    pub fn incarnation(&self, machine: &Machine) -> u32 {
        self.processes.get(machine).map_or(0, |process| process.incarnation)
    }

    /// Starts a process.
    pub fn start(&mut self, machine: &Machine) {
        let process = self.processes.entry(machine.clone()).or_insert(Process {
            status: ProcessStatus::Stopped,
            incarnation: 0,
            backlog: Vec::new(),
        });
        process.status = ProcessStatus::Running;
    }

    /// Ends a process: its connections are reset, so that every peer with an unanswered request
    /// notices one hop later; what it had received but not handled, and its timers, are gone.
    pub fn stop(&mut self, machine: &Machine) {
        let Some(process) = self.processes.get_mut(machine) else { return };
        process.status = ProcessStatus::Stopped;
        process.incarnation += 1;
        process.backlog.clear();
        let arrived: Vec<MessageId> = self
            .open
            .values()
            .filter(|open| open.message.to == *machine && open.arrives_ms <= self.now_ms)
            .map(|open| open.message.id)
            .collect();
        for id in arrived {
            self.open.remove(&id);
        }
        let mut broken = Vec::new();
        self.outstanding.retain(|id, outstanding| {
            if outstanding.to == *machine && !outstanding.answered {
                broken.push(*id);
            }
            outstanding.from != *machine
        });
        for request in broken {
            // A request that is still under way meets the reset when it arrives.
            if !self.open.contains_key(&request) {
                self.schedule_disconnect(request);
            }
        }
    }

    /// Halts a process: what comes in waits.
    pub fn pause(&mut self, machine: &Machine) {
        if let Some(process) = self.processes.get_mut(machine)
            && process.status == ProcessStatus::Running
        {
            process.status = ProcessStatus::Paused;
        }
    }

    /// Lets a paused process go on: what came in meanwhile happens now, in order.
    pub fn resume(&mut self, machine: &Machine) {
        let Some(process) = self.processes.get_mut(machine) else { return };
        if process.status == ProcessStatus::Paused {
            process.status = ProcessStatus::Running;
            for event in std::mem::take(&mut process.backlog) {
                self.queue.push(self.now_ms, Rank::Event, event);
            }
        }
    }

    /// The messages under way and the requests held, in the order of sending.
    pub fn open_messages(&self) -> impl Iterator<Item = MessageView> {
        self.open.values().filter(|open| !self.is_dead(open)).map(view)
    }

    /// A held request of a process that is gone waits for nobody.
    fn is_dead(&self, open: &Open) -> bool {
        open.waiting && self.incarnation(&open.message.from) != open.from_incarnation
    }
}

fn view(open: &Open) -> MessageView {
    let body = &open.message.body;
    MessageView {
        id: open.message.id.0,
        from: open.message.from.clone(),
        to: open.message.to.clone(),
        kind: body.kind(),
        carries: body.carries(),
        sent_ms: open.sent_ms,
        arrives_ms: open.arrives_ms,
        waiting: open.waiting,
        records: body.records(),
        record_count: body.record_count(),
        fetches: body.fetches().into_iter().filter(|one| !one.partition.is_internal()).collect(),
        error: shown_error(body).map(|error| error.name().to_owned()),
        answers: open.message.answers.map(|request| request.0),
    }
}

/// The error of an answer; a replica's fetch shows those of the partitions that are shown.
fn shown_error(body: &Body) -> Option<KafkaError> {
    let Body::ReplicaFetchResponse(parts) = body else { return body.error() };
    let mut shown = parts.iter().filter(|part| !part.partition.is_internal());
    shown.find_map(|part| part.result.as_ref().err().copied())
}
