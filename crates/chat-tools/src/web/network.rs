//! Resolves names and opens connections in the system's own way, which tests replace.

use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;

/// The network as tools see it.
#[async_trait]
pub trait Network: Send + Sync {
    /// All addresses of a host name.
    ///
    /// # Errors
    ///
    /// The name is unknown, or the resolver cannot be reached.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// The address that a connection to a judged address uses: the same one.
    fn door(&self, judged: SocketAddr) -> SocketAddr {
        judged
    }
}

/// The system's network.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

#[async_trait]
impl Network for System {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut found: Vec<IpAddr> = Vec::new();
        for address in tokio::net::lookup_host((name, 0)).await? {
            if !found.contains(&address.ip()) {
                found.push(address.ip());
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_have_each_address_once() {
        let found = System.addresses("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
        let once: std::collections::HashSet<_> = found.iter().collect();
        assert_eq!(once.len(), found.len());
    }
}
