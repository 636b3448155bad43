//! Choices.
#![no_std]
