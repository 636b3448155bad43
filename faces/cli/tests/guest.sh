#!/bin/busybox sh
# The only process of the guest, which has two NVMe disks: a file system on one, bytes past the page cache on the other. If a
# command fails the process ends, and with it the guest, before the last line.
set -e
/bin/busybox mkdir -p /dev /proc /sys /mnt /tmp
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
# The kernel may have done it.
mount -t devtmpfs dev /dev 2>/dev/null || true
for disk in /sys/class/nvme/*; do
    case $(cat "$disk/serial") in
        reader*) files=/dev/${disk##*/}n1 ;;
        writer*) raw=/dev/${disk##*/}n1 ;;
    esac
done

cd /tmp
dd if=/dev/urandom of=random bs=64k count=64 2>/dev/null
# Both disks at once.
dd if=random of="$raw" bs=64k seek=3 oflag=direct conv=fsync 2>/dev/null &
mke2fs -F -b 4096 "$files" >/dev/null
mount -t ext4 "$files" /mnt
for n in 1 2 3; do cp /bin/busybox "/mnt/copy$n"; done
sync
rm /mnt/copy2
dd if=random of=/mnt/random bs=16k oflag=direct conv=fsync 2>/dev/null
(cd /mnt && md5sum copy1 copy3 random >sums)
fstrim /mnt
umount /mnt
wait $!
sync

# From the disks, not from memory.
echo 3 >/proc/sys/vm/drop_caches
mount -t ext4 "$files" /mnt
(cd /mnt && md5sum -c sums)
cmp /mnt/random random
umount /mnt
dd if="$raw" of=back bs=4k skip=48 count=1024 iflag=direct 2>/dev/null
cmp back random
blkdiscard -o 0 -l 65536 "$raw"
sync
echo "all was as it was written"
poweroff -f
