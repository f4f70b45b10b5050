//! Imitates the internet for tests: names have the given addresses, and addresses of the open
//! internet lead to a server on loopback.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;

use async_trait::async_trait;
use chat_permission::reach::judge;
use chat_tools::web::network::Network;

use crate::server::FAR;

/// An address of the open internet.
pub const PUBLIC: &str = "93.184.216.34";

/// An internet for tests.
#[derive(Default)]
pub struct Internet {
    names: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: Mutex<HashMap<String, usize>>,
}

impl Internet {
    /// Gives a name its addresses: one answer for each time that it is looked up, the last one for
    /// ever.
    pub fn name(mut self, name: &'static str, answers: &[&[&str]]) -> Self {
        let read = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        self.names.insert(name, answers.iter().map(read).collect());
        self
    }

    /// How often a name was looked up.
    pub fn lookups(&self, name: &str) -> usize {
        self.asked.lock().unwrap().get(name).copied().unwrap_or_default()
    }
}

#[async_trait]
impl Network for Internet {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let known = self.names.get(name);
        let answers = known.ok_or_else(|| io::Error::other("no such name"))?;
        let mut asked = self.asked.lock().unwrap();
        let count = asked.entry(name.to_owned()).or_default();
        *count += 1;
        Ok(answers[(*count - 1).min(answers.len() - 1)].clone())
    }

    fn door(&self, judged: SocketAddr) -> SocketAddr {
        if judge(judged.ip()).is_public() { SocketAddr::new(FAR, judged.port()) } else { judged }
    }
}
