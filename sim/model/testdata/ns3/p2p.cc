// SPDX-License-Identifier: MIT
//
// p2p COUNT WINDOW DATA ANSWER sends COUNT packets of DATA bytes over a
// point-to-point link of 100 Gb/s and 1 us, WINDOW at a time. The other end
// answers each with a packet of ANSWER bytes, and the next WINDOW follows the
// last answer. It prints how many packets arrived, both ways, and the seconds
// of wall clock that the simulation took.

#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/point-to-point-net-device.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>

using namespace ns3;

namespace {

constexpr uint16_t kProtocol = 0x0800; // IPv4: PPP carries nothing else

uint64_t left, arrived;
uint32_t window, dataBytes, answerBytes, unanswered;
Ptr<PointToPointNetDevice> device[2];

void SendWindow() {
  for (unanswered = 0; unanswered < window && left > 0; ++unanswered, --left) {
    if (!device[0]->Send(Create<Packet>(dataBytes), device[1]->GetAddress(), kProtocol)) {
      NS_FATAL_ERROR("the queue of the device is full");
    }
  }
}

bool TakeData(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
  ++arrived;
  if (!device[1]->Send(Create<Packet>(answerBytes), device[0]->GetAddress(), kProtocol)) {
    NS_FATAL_ERROR("the queue of the device is full");
  }
  return true;
}

bool TakeAnswer(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
  ++arrived;
  if (--unanswered == 0) {
    SendWindow();
  }
  return true;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: p2p COUNT WINDOW DATA ANSWER\n";
    return 2;
  }
  left = std::strtoull(argv[1], nullptr, 10);
  window = std::strtoul(argv[2], nullptr, 10);
  dataBytes = std::strtoul(argv[3], nullptr, 10);
  answerBytes = std::strtoul(argv[4], nullptr, 10);

  Ptr<PointToPointChannel> channel = CreateObject<PointToPointChannel>();
  channel->SetAttribute("Delay", TimeValue(MicroSeconds(1)));
  for (auto& d : device) {
    d = CreateObject<PointToPointNetDevice>();
    d->SetAttribute("DataRate", DataRateValue(DataRate("100Gbps")));
    d->SetAddress(Mac48Address::Allocate());
    Ptr<Queue<Packet>> queue = CreateObject<DropTailQueue<Packet>>();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, window));
    d->SetQueue(queue);
    Ptr<Node> node = CreateObject<Node>();
    node->AddDevice(d);
    d->Attach(channel);
  }
  device[0]->SetReceiveCallback(MakeCallback(&TakeAnswer));
  device[1]->SetReceiveCallback(MakeCallback(&TakeData));

  Simulator::Schedule(Seconds(0), &SendWindow);
  auto start = std::chrono::steady_clock::now();
  Simulator::Run();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  Simulator::Destroy();
  std::cout << arrived << " " << took.count() << "\n";
}
