//! Ranks as threads of one process, for tests.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use super::Transport;

/// One rank among threads.
pub struct Channels {
    rank: usize,
    to: Vec<Mutex<Sender<Vec<u8>>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
    barrier: Arc<Barrier>,
}

/// So many ranks.
pub fn ranks(n: usize) -> Vec<Box<dyn Transport>> {
    let barrier = Arc::new(Barrier::new(n));
    let mut to: Vec<Vec<Mutex<Sender<Vec<u8>>>>> = (0..n).map(|_| Vec::new()).collect();
    let mut from: Vec<Vec<Mutex<Receiver<Vec<u8>>>>> = (0..n).map(|_| Vec::new()).collect();
    for receiving in &mut from {
        for sending in &mut to {
            let (sender, receiver) = channel();
            sending.push(Mutex::new(sender));
            receiving.push(Mutex::new(receiver));
        }
    }
    let each = to.into_iter().zip(from).enumerate();
    each.map(|(rank, (to, from))| -> Box<dyn Transport> {
        Box::new(Channels { rank, to, from, barrier: barrier.clone() })
    })
    .collect()
}

/// What a function gives on each rank.
pub fn each_rank<T: Send>(
    ranks: Vec<Box<dyn Transport>>,
    body: impl Fn(Box<dyn Transport>) -> T + Sync,
) -> Vec<T> {
    std::thread::scope(|scope| {
        let body = &body;
        let threads: Vec<_> =
            ranks.into_iter().map(|transport| scope.spawn(move || body(transport))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

impl Channels {
    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), String> {
        let sender = self.to[to].lock().unwrap_or_else(PoisonError::into_inner);
        sender.send(bytes.to_vec()).map_err(|error| error.to_string())
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), String> {
        let receiver = self.from[from].lock().unwrap_or_else(PoisonError::into_inner);
        // What never comes is a mistake of the plan.
        let wait = std::time::Duration::from_secs(20);
        let message = receiver.recv_timeout(wait).map_err(|error| error.to_string())?;
        if message.len() != bytes.len() {
            return Err(format!("{} bytes came, not {}", message.len(), bytes.len()));
        }
        bytes.copy_from_slice(&message);
        Ok(())
    }
}

impl Transport for Channels {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.to.len()
    }

    fn largest(&self, values: &mut [u64]) -> Result<(), String> {
        let own: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        (0..self.ranks()).try_for_each(|to| self.send(to, &own))?;
        for from in 0..self.ranks() {
            let mut bytes = vec![0; own.len()];
            self.receive(from, &mut bytes)?;
            for (value, other) in values.iter_mut().zip(bytes.chunks(8)) {
                *value = (*value).max(u64::from_le_bytes(other.try_into().unwrap()));
            }
        }
        Ok(())
    }

    fn exchange(&self, sent: &[(usize, &[u8])], received: &mut [(usize, &mut [u8])]) -> Result<(), String> {
        sent.iter().try_for_each(|(to, bytes)| self.send(*to, bytes))?;
        received.iter_mut().try_for_each(|(from, bytes)| self.receive(*from, bytes))
    }

    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), String> {
        if from == self.rank {
            (0..self.ranks()).filter(|to| *to != from).try_for_each(|to| self.send(to, bytes))
        } else {
            self.receive(from, bytes)
        }
    }

    fn leave(&self) {
        self.barrier.wait();
    }

    fn end(&self, text: &str) -> ! {
        panic!("{text}")
    }
}
