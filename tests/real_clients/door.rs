//! A door in front of a seat's endpoint for clients that cannot bring a token: it adds the token to each request and
//! changes nothing else, so that foreign names and origins arrive as such.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

/// Open until the process ends.
pub struct Door {
    pub port: u16,
    to: String,
    token: String,
}

impl Door {
    /// In front of the listener at `to`.
    pub fn open(to: &str, token: &str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let door = Self { port, to: to.to_owned(), token: token.to_owned() };
        let door = std::sync::Arc::new(door);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let door = door.clone();
                // A client that goes away in the middle is no news.
                std::thread::spawn(move || drop(door.pass(socket)));
            }
        });
        port
    }

    /// One request for each connection, so that no further head needs to be found in the bytes.
    fn pass(&self, mut client: TcpStream) -> io::Result<()> {
        let mut head = Vec::new();
        let mut byte = [0_u8];
        while !head.ends_with(b"\r\n\r\n") {
            client.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let mut listener = TcpStream::connect(&self.to)?;
        listener.set_nodelay(true)?;
        listener.write_all(self.changed(&String::from_utf8_lossy(&head)).as_bytes())?;
        let (mut from, mut to) = (client.try_clone()?, listener.try_clone()?);
        std::thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            to.shutdown(Shutdown::Both)
        });
        io::copy(&mut listener, &mut client)?;
        client.shutdown(Shutdown::Both)
    }

    fn changed(&self, head: &str) -> String {
        let (here, there) = (format!(":{}", self.port), format!(":{}", self.to.rsplit(':').next().unwrap()));
        let mut lines = head.trim_end().split("\r\n");
        let mut out = vec![lines.next().unwrap_or_default().to_owned()];
        out.extend([format!("Authorization: Bearer {}", self.token), "Connection: close".to_owned()]);
        for line in lines {
            match line.split(':').next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "connection" => {}
                // What names this door names the listener behind it; what names another place still does.
                "host" | "origin" => out.push(line.replace(&here, &there)),
                _ => out.push(line.to_owned()),
            }
        }
        out.join("\r\n") + "\r\n\r\n"
    }
}
